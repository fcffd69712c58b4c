/** What counts as an authentic callback of each provider. Signatures are made here by hand. */
import { createHmac, randomBytes } from 'node:crypto';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { Provider } from '../../../src/adapters/providers/port';
import { createProviders, type ProviderRegistry } from '../../../src/adapters/providers/registry';

const REFERENCE = 'po_1';
const secret = randomBytes(24).toString('hex');

interface Callback {
  headers: Record<string, string | string[] | undefined>;
  rawBody: Buffer;
}

const BODIES: Record<ProviderCode, (reference: unknown) => string> = {
  onchain_provider: (reference) =>
    JSON.stringify({ data: { object: 'transfer', client_reference: reference } }),
  exchange_pay: (reference) =>
    JSON.stringify({
      bizType: 'PAYOUT',
      data: JSON.stringify({ merchantTransferId: reference }),
    }),
};

const CHECKOUT_BODIES: Record<ProviderCode, (reference: unknown) => string> = {
  onchain_provider: (reference) =>
    JSON.stringify({ data: { object: 'checkout', client_reference: reference } }),
  exchange_pay: (reference) =>
    JSON.stringify({ bizType: 'PAY', data: JSON.stringify({ merchantOrderId: reference }) }),
};

const SIGN: Record<
  ProviderCode,
  (rawBody: Buffer, unixTimeMs: number, key: string) => Record<string, string>
> = {
  onchain_provider: (rawBody, unixTimeMs, key) => {
    const seconds = String(Math.floor(unixTimeMs / 1000));
    const hex = createHmac('sha256', key).update(`${seconds}.`).update(rawBody).digest('hex');
    return { 'onchain-signature': `t=${seconds},s=${hex}` };
  },
  exchange_pay: (rawBody, unixTimeMs, key) => {
    const timestamp = String(unixTimeMs);
    const nonce = randomBytes(16).toString('hex');
    const mac = createHmac('sha512', key).update(`${timestamp}\n${nonce}\n`).update(rawBody);
    return {
      'exchangepay-timestamp': timestamp,
      'exchangepay-nonce': nonce,
      'exchangepay-signature': mac.update('\n').digest('base64'),
    };
  },
};

let registry: ProviderRegistry;
beforeAll(() => {
  const config = {
    baseUrl: 'http://127.0.0.1:1',
    apiKey: '-',
    callbackSecret: secret,
    timeoutMs: 1,
  };
  registry = createProviders({
    onchain_provider: { test: config, live: null },
    exchange_pay: { test: config, live: config },
  });
});
afterAll(() => registry.close());

describe.each(PROVIDER_CODES)('%s', (code) => {
  const provider = (): Provider => registry.get(code, 'test');
  const read = ({ headers, rawBody }: Callback) => provider().readCallback(headers, rawBody);
  const build = (body: string | Buffer, unixTimeMs = Date.now(), key = secret): Callback => {
    const rawBody = Buffer.from(body);
    return { headers: SIGN[code](rawBody, unixTimeMs, key), rawBody };
  };
  const good = (unixTimeMs?: number): Callback => build(BODIES[code](REFERENCE), unixTimeMs);

  it('reads an authentic callback', () => {
    expect(read(good())).toEqual({ object: 'payout', reference: REFERENCE });
  });

  it.each([
    [-290_000, true],
    [290_000, true],
    [-302_000, false],
    [302_000, false],
  ])('with a time %i ms from now: %s', (shiftMs, accepted) => {
    expect(read(good(Date.now() + shiftMs)) !== null).toBe(accepted);
  });

  it('refuses another secret', () => {
    expect(read(build(BODIES[code](REFERENCE), Date.now(), `${secret}0`))).toBeNull();
  });

  it('refuses a body with one byte more than was signed', () => {
    const callback = good();
    expect(
      read({ ...callback, rawBody: Buffer.concat([callback.rawBody, Buffer.from(' ')]) }),
    ).toBeNull();
  });

  it('checks the bytes as they came, not the text that they make', () => {
    const members = BODIES[code](REFERENCE).slice(1);
    const signed = build(
      Buffer.concat([Buffer.from('{"x":"\xff",', 'latin1'), Buffer.from(members)]),
    );
    expect(read(signed)).toEqual({ object: 'payout', reference: REFERENCE });
    // 0xff and 0xfe both read as the replacement character; only the bytes differ.
    const swapped = Buffer.from(signed.rawBody);
    swapped[swapped.indexOf(0xff)] = 0xfe;
    expect(read({ ...signed, rawBody: swapped })).toBeNull();
  });

  it('refuses every header that is missing, repeated, cut or empty', () => {
    const callback = good();
    for (const [name, value] of Object.entries(callback.headers)) {
      const text = String(value);
      for (const bad of [undefined, [text, text], text.slice(0, -2), '', `${text} `]) {
        expect(read({ ...callback, headers: { ...callback.headers, [name]: bad } })).toBeNull();
      }
    }
  });

  it.each([
    ['no JSON', 'hello'],
    ['JSON null', 'null'],
    ['an empty object', '{}'],
    ['an endless nesting', '['.repeat(100_000)],
    ['nothing', ''],
  ])('takes %s, when it is well signed, for nothing of ours', (_what, body) => {
    expect(read(build(body))).toEqual({ object: 'other' });
  });

  it.each([null, 7, '', '../po_1', 'po 1', 'x'.repeat(65)])(
    'takes the reference %p for nothing of ours',
    (reference) => {
      expect(read(build(BODIES[code](reference)))).toEqual({ object: 'other' });
    },
  );

  it('reads an authentic callback about a checkout as an update of a payment', () => {
    const hint = read(build(CHECKOUT_BODIES[code]('pay_1')));
    expect(hint).toEqual({ object: 'payment', reference: 'pay_1' });
    expect(read(build(CHECKOUT_BODIES[code]('../pay_1')))).toEqual({ object: 'other' });
    expect(read(build(CHECKOUT_BODIES[code]('pay_1'), Date.now(), `${secret}0`))).toBeNull();
  });

  it('ignores updates of other kinds of objects', () => {
    const other = BODIES[code](REFERENCE).replace(/transfer"|PAYOUT"/, 'other"');
    expect(read(build(other))).toEqual({ object: 'other' });
  });
});

describe('the registry', () => {
  it('lists the enabled providers of a mode in the order of preference', () => {
    expect(registry.list('test').map((one) => one.code)).toEqual([
      'onchain_provider',
      'exchange_pay',
    ]);
    expect(registry.list('live').map((one) => one.code)).toEqual(['exchange_pay']);
  });

  it('has no provider that is not enabled', () => {
    expect(() => registry.get('onchain_provider', 'live')).toThrow(RangeError);
  });
});
