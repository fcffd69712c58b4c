/**
 * What the adapters make of checkout answers that no honest provider gives: unknown, always, and
 * nothing throws. The ways in which HTTP itself can fail are in sandbox-hostile-answers.test.ts.
 */
import type { ServerResponse } from 'node:http';
import { amount } from '../../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { CheckoutResult } from '../../../src/adapters/providers/port';
import type { ProviderRegistry } from '../../../src/adapters/providers/registry';
import {
  buildCheckout,
  connectProviders,
  IMPATIENT_MS,
  makeCredentials,
  startHttpServer,
} from '../../support/servers/sandbox';

let respond: (response: ServerResponse) => void;
let server: { url: string; stop(): Promise<void> };
let providers: ProviderRegistry;

beforeAll(async () => {
  server = await startHttpServer((request, response) => {
    request.resume();
    request.on('end', () => {
      respond(response);
    });
  });
  const address = { onchainUrl: server.url, exchangePayUrl: server.url };
  providers = connectProviders(address, makeCredentials(), IMPATIENT_MS);
});
afterAll(async () => {
  await providers.close();
  await server.stop();
});

function answer(status: number, body: string): void {
  respond = (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
}

/** Answers in the form of the providers' documents, with one transfer and one refund. */
const TRUE_ANSWERS: Record<ProviderCode, (reference: string) => string> = {
  onchain_provider: (reference) =>
    JSON.stringify({
      checkout: {
        object: 'checkout',
        id: 'och_1',
        client_reference: reference,
        url: 'https://pay.example/1',
        state: 'customer_active',
        compliance: 'clear',
        amount: '25.00000000',
        asset: 'USDT',
        network: 'tron',
        deposits: [
          {
            id: 'odp_1',
            amount: '24.00000000',
            state: 'final',
            detected_at: '2026-01-02T03:04:05.000Z',
            final_at: '2026-01-02T03:05:05.000Z',
            tx_hash: 'ab',
          },
        ],
        refunds: [
          {
            id: 'orf_1',
            refund_reference: 'orf_1',
            amount: '2.00000000',
            refunded_at: '2026-01-02T03:06:05Z',
          },
        ],
        failure_code: null,
      },
    }),
  exchange_pay: (reference) =>
    JSON.stringify({
      status: 'SUCCESS',
      code: '000000',
      data: {
        orderId: '81',
        merchantOrderId: reference,
        checkoutUrl: 'https://pay.example/1',
        orderStatus: 'PAYING',
        riskHold: false,
        orderAmount: '25',
        currency: 'USDT',
        payments: [
          {
            paymentId: 'EPP1',
            payAmount: '24',
            payStatus: 'SUCCESS',
            createTime: 1767323045000,
            successTime: 1767323105000,
          },
        ],
        refunds: [
          {
            refundId: 'EPR1',
            merchantRefundId: 'EPR1',
            refundAmount: '2',
            refundTime: 1767323165000,
          },
        ],
        failCode: null,
      },
    }),
};

/** Changes one true answer; each makes it one that cannot be believed. */
const LIES: Record<ProviderCode, [what: string, from: RegExp, to: string][]> = {
  onchain_provider: [
    ['no id', /"id":"och_1",/, ''],
    ['an address that runs a script', /https:\/\/pay\.example\/1/, 'javascript:alert(1)'],
    ['an address that is none', /https:\/\/pay\.example\/1/, 'https://'],
    ['an unknown state', /customer_active/, 'toString'],
    ['an unknown compliance state', /"clear"/, '"maybe"'],
    ['an amount as a number', /"24\.00000000"/, '24.00000000'],
    ['a negative amount', /"24\.00000000"/, '"-24.00000000"'],
    ['a negative refund', /"2\.00000000"/, '"-2.00000000"'],
    ['no deposits', /"deposits":\[.*?\],/, ''],
    ['deposits that are no list', /"deposits":\[.*?\]/, '"deposits":{}'],
    ['a deposit that is null', /"deposits":\[/, '"deposits":[null,'],
    ['a deposit twice', /"deposits":\[(.*?)\]/, '"deposits":[$1,$1]'],
    [
      'ids that no database tells apart',
      /"deposits":\[(\{.*?)odp_1(.*?\})\]/,
      '"deposits":[$1\\u0000$2,$1\\ud800$2]',
    ],
    ['an unknown deposit state', /"final"/, '"constructor"'],
    ['a final deposit without its time', /"final_at":"[^"]*"/, '"final_at":null'],
    ['a vanished deposit with a time', /"final"/, '"vanished"'],
    ['a time that is none', /2026-01-02T03:05:05\.000Z/, '2026-13-02T03:05:05.000Z'],
    ['a time without a zone', /2026-01-02T03:05:05\.000Z/, '2026-01-02T03:05:05'],
    ['a refund without an amount', /"amount":"2\.00000000",/, ''],
    ['a refund without a reference', /"refund_reference":"orf_1",/, ''],
  ],
  exchange_pay: [
    ['no id', /"orderId":"81",/, ''],
    ['an address that runs a script', /https:\/\/pay\.example\/1/, 'javascript:alert(1)'],
    ['an unknown state', /PAYING/, 'toString'],
    ['a hold as text', /"riskHold":false/, '"riskHold":"false"'],
    ['an amount as a number', /"24"/, '24'],
    ['a negative amount', /"24"/, '"-24"'],
    ['a negative refund', /"2"/, '"-2"'],
    ['no payments', /"payments":\[.*?\],/, ''],
    ['a payment twice', /"payments":\[(.*?)\]/, '"payments":[$1,$1]'],
    ['a success without its time', /"successTime":\d+/, '"successTime":null'],
    ['a time as text', /"successTime":(\d+)/, '"successTime":"$1"'],
    ['a time with a fraction', /"successTime":(\d+)/, '"successTime":$1.5'],
    ['a time beyond all calendars', /"successTime":\d+/, '"successTime":999999999999999999'],
    ['a void payment with a time', /"payStatus":"SUCCESS"/, '"payStatus":"VOID"'],
    ['a failure around it', /"000000"/, '"400101"'],
    ['a refund without a time', /,"refundTime":\d+/, ''],
    ['a refund without a reference', /"merchantRefundId":"EPR1",/, ''],
  ],
};

/** Names with what PostgreSQL does not keep, and as they are kept. */
const ODD_NAMES: Record<ProviderCode, [name: string, odd: string, kept: string][]> = {
  onchain_provider: [
    ['"odp_1"', '"odp_\\u0000"', '"odp_\ufffd"'],
    ['"id":"orf_1"', '"id":"\\udc00orf"', '"id":"\ufffdorf"'],
    ['"ab"', '"\\ud800b"', '"\ufffdb"'],
  ],
  exchange_pay: [
    ['"EPP1"', '"EPP\\u0000"', '"EPP\ufffd"'],
    ['"refundId":"EPR1"', '"refundId":"\\udc00EPR"', '"refundId":"\ufffdEPR"'],
  ],
};

/** Beside the true transfer and refund, one of each that moves nothing: anybody can send such. */
const NOTHINGS: Record<ProviderCode, [from: RegExp, to: string][]> = {
  onchain_provider: [
    [/"deposits":\[(\{.*?\})\]/, '"deposits":[$1,$1,$1]'],
    [/"id":"odp_1","amount":"24\.00000000"/, '"id":"odp_0","amount":"0"'],
    [/"id":"odp_1","amount":"24\.00000000"/, '"id":"odp_2","amount":"0.00000000"'],
    [/"refunds":\[(\{.*?\})\]/, '"refunds":[$1,$1]'],
    [/"id":"orf_1",(.*?)"2\.00000000"/, '"id":"orf_0",$1"0.00000000"'],
  ],
  exchange_pay: [
    [/"payments":\[(\{.*?\})\]/, '"payments":[$1,$1,$1]'],
    [/"paymentId":"EPP1","payAmount":"24"/, '"paymentId":"EPP0","payAmount":"0"'],
    [/"paymentId":"EPP1","payAmount":"24"/, '"paymentId":"EPP2","payAmount":"00.0"'],
    [/"refunds":\[(\{.*?\})\]/, '"refunds":[$1,$1]'],
    [/"refundId":"EPR1",(.*?)"2"/, '"refundId":"EPR0",$1"0"'],
  ],
};

describe.each(PROVIDER_CODES)('%s', (code) => {
  const provider = () => providers.get(code, 'test');
  const askAll = (reference: string): Promise<CheckoutResult[]> =>
    Promise.all([
      provider().openCheckout(buildCheckout(code, { reference })),
      provider().findCheckout(reference),
      provider().cancelCheckout(reference),
      provider().releaseHold(reference, 'reject'),
      ...(code === 'exchange_pay'
        ? [provider().refundCheckout(reference, 're_1', amount('1'))]
        : []),
    ]);
  const expectAllUnknown = async (reference: string): Promise<void> => {
    for (const result of await askAll(reference)) {
      expect(result).toEqual({ kind: 'unknown', reason: expect.stringMatching(/^[A-Z].*\.$/) });
    }
  };

  it('believes a true answer, so that the rest can fail', async () => {
    answer(200, TRUE_ANSWERS[code]('pay_1'));
    for (const result of await askAll('pay_1')) {
      expect(result).toMatchObject({
        kind: 'found',
        checkout: {
          state: 'started',
          onHold: false,
          transfers: [
            {
              amount: '24.00000000',
              status: 'confirmed',
              seenAt: new Date('2026-01-02T03:04:05Z'),
              confirmedAt: new Date('2026-01-02T03:05:05Z'),
            },
          ],
          refunds: [{ amount: '2.00000000', refundedAt: new Date('2026-01-02T03:06:05Z') }],
        },
      });
    }
  });

  it('leaves out transfers and refunds of nothing', async () => {
    const honest = TRUE_ANSWERS[code]('pay_1');
    answer(200, honest);
    const [expected] = await askAll('pay_1');
    const changed = NOTHINGS[code].reduce((text, [from, to]) => text.replace(from, to), honest);
    expect(changed.length).toBeGreaterThan(honest.length * 1.5);
    answer(200, changed);
    for (const result of await askAll('pay_1')) expect(result).toEqual(expected);
  });

  it('makes storable names of those that no database keeps', async () => {
    const honest = TRUE_ANSWERS[code]('pay_1');
    const rename = (to: 1 | 2) =>
      ODD_NAMES[code].reduce((text, names) => text.replace(names[0], names[to]), honest);
    answer(200, rename(1));
    const odd = await askAll('pay_1');
    answer(200, rename(2));
    expect(odd).toEqual(await askAll('pay_1'));
    expect(odd.map(({ kind }) => kind)).toEqual(odd.map(() => 'found'));
  });

  it.each(LIES[code])('does not believe %s', async (_what, from, to) => {
    const honest = TRUE_ANSWERS[code]('pay_1');
    const lie = honest.replace(from, to);
    expect(lie).not.toBe(honest);
    answer(200, lie);
    await expectAllUnknown('pay_1');
  });

  it('does not take an answer about another checkout', async () => {
    answer(200, TRUE_ANSWERS[code]('pay_2'));
    await expectAllUnknown('pay_1');
  });

  it.each([
    ['amount', { amount: amount('25.00000001') }],
    ['currency', { currency: 'USDC' }],
  ])('does not take a checkout of another %s for the one it opened', async (_what, change) => {
    answer(200, TRUE_ANSWERS[code]('pay_1'));
    const order = buildCheckout(code, { reference: 'pay_1', ...change });
    expect((await provider().openCheckout(order)).kind).toBe('unknown');
  });

  it.each([
    [200, ''],
    [200, 'null'],
    [200, '{"checkout":null,"data":null}'],
    [401, '{"error":{"code":"unauthorized"}}'],
    [404, '{"error":{"code":"route_not_found"}}'],
    [500, '{"status":"FAIL","code":"400302","error":{"code":"checkout_not_found"}}'],
    [503, '<html></html>'],
    [409, '{"error":{"code":"refund_reference_conflict"}}'],
    [400, '{"status":"FAIL","code":"400303","data":null}'],
  ])('does not know what %i %s means', async (status, body) => {
    answer(status, body);
    await expectAllUnknown('pay_1');
  });

  it('takes 429 for a limit, whatever the body is', async () => {
    answer(429, '{"error":{"code":"asset_not_supported"}}');
    const results = await askAll('pay_1');
    expect(results.map(({ kind }) => kind)).toEqual(results.map(() => 'limited'));
  });

  it('never says not_found of a checkout that it opens', async () => {
    const notFound = { onchain_provider: 404, exchange_pay: 400 }[code];
    answer(
      notFound,
      '{"status":"FAIL","code":"400302","data":null,"error":{"code":"checkout_not_found"}}',
    );
    const [opened, ...others] = await askAll('pay_1');
    expect(opened?.kind).toBe('unknown');
    expect(others.map((one) => one.kind)).toEqual(others.map(() => 'not_found'));
  });
});
