/** Callbacks about payouts: only an authentic one is taken, and none moves money. */
import type { Mode } from '../../../src/domain/mode';
import { newId } from '../../../src/platform/lib/new-id';
import { acceptedPayout, magic, openMerchant } from '../../support/payout/payout-steps';
import {
  type Callback,
  callbackSecret,
  deliverCallback,
  PAYOUT_CLAIMS,
} from '../../support/servers/provider-callbacks';
import { type Outage, setOutage } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';
import type { ProviderCode } from '../../../src/domain/provider-codes';

const gateway = started(startDirectGateway);

const secretOf = (provider: ProviderCode, mode: Mode) => callbackSecret(gateway, provider, mode);
const deliver = (path: string, callback: Callback) => deliverCallback(gateway, path, callback);

const BOTH: ProviderCode[] = ['onchain_provider', 'exchange_pay'];

const FORGERIES: [what: string, forge: (reference: string, provider: ProviderCode) => Callback][] =
  [
    ['a made-up secret', (reference, p) => PAYOUT_CLAIMS[p](reference, 'a'.repeat(48))],
    [
      'the secret of the other mode',
      (reference, p) => PAYOUT_CLAIMS[p](reference, secretOf(p, 'test')),
    ],
    [
      'the secret of the other provider',
      (reference, p) => {
        const other = p === 'exchange_pay' ? 'onchain_provider' : 'exchange_pay';
        return PAYOUT_CLAIMS[p](reference, secretOf(other, 'live'));
      },
    ],
    [
      'a signature of another body',
      (reference, p) => {
        const signed = PAYOUT_CLAIMS[p](newId('payout'), secretOf(p, 'live'));
        return { ...signed, body: PAYOUT_CLAIMS[p](reference, secretOf(p, 'live')).body };
      },
    ],
    [
      'a recording of six minutes ago',
      (reference, p) => PAYOUT_CLAIMS[p](reference, secretOf(p, 'live'), Date.now() - 360_000),
    ],
    [
      'no signature',
      (reference, p) => ({ headers: {}, body: PAYOUT_CLAIMS[p](reference, 'none').body }),
    ],
    ['no body', (_reference, p) => ({ ...PAYOUT_CLAIMS[p]('x', secretOf(p, 'live')), body: '' })],
  ];

/** A payout in processing of which the provider never says a final word by itself. */
async function openPayout(provider: ProviderCode) {
  const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const destination =
    provider === 'onchain_provider'
      ? { destination: magic('never_settles') }
      : { destination: { type: 'exchange_id', value: '9000009014' }, network: undefined };
  const id = await acceptedPayout(client, destination);
  expect(await gateway.approve(id)).toMatchObject({ status: 'processing' });
  return { client, id };
}

test.each(BOTH)('forged callbacks of %s are refused and change nothing', async (provider) => {
  const { client, id } = await openPayout(provider);
  const before = (await client.get(`/payouts/${id}`)).text;
  for (const [what, forge] of FORGERIES) {
    const { status, json, headers } = await deliver(`${provider}/live`, forge(id, provider));
    expect({ what, status, code: json.error?.code }).toEqual({
      what,
      status: 401,
      code: 'invalid_signature',
    });
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  }
  expect((await client.get(`/payouts/${id}`)).text).toBe(before);
  // Not even the workflow has heard of them.
  expect(gateway.heard).not.toContain(id);
});

test.each([
  ['bank/live'],
  ['onchain_provider/prod'],
  ['onchain_provider/LIVE'],
  ['constructor/live'],
  ['onchain_provider'],
  ['onchain_provider/live/more'],
])('there is nothing at /provider-callbacks/%s', async (path) => {
  const callback = PAYOUT_CLAIMS.onchain_provider('x', secretOf('onchain_provider', 'live'));
  expect(await deliver(path, callback)).toMatchObject({
    status: 404,
    json: { error: { code: 'not_found' } },
  });
});

test.each(BOTH)(
  'an authentic callback of %s about something unknown is taken',
  async (provider) => {
    for (const reference of [newId('payout'), 'not-ours', 'po_1', 'of another form!']) {
      const callback = PAYOUT_CLAIMS[provider](reference, secretOf(provider, 'live'));
      expect(await deliver(`${provider}/live`, callback)).toMatchObject({ status: 200 });
      expect(gateway.heard).not.toContain(reference);
    }
  },
);

test('a callback of one mode or provider does not reach a payout of another', async () => {
  const { client, id } = await openPayout('onchain_provider');
  const strangers: [ProviderCode, Mode][] = [
    ['onchain_provider', 'test'],
    ['exchange_pay', 'live'],
  ];
  for (const [provider, mode] of strangers) {
    const callback = PAYOUT_CLAIMS[provider](id, secretOf(provider, mode));
    expect(await deliver(`${provider}/${mode}`, callback)).toMatchObject({ status: 200 });
  }
  expect(gateway.heard).not.toContain(id);
  expect((await client.get(`/payouts/${id}`)).json.data.status).toBe('processing');
});

describe('a provider that does not answer after the end of a payout', () => {
  const outage = (kind: Outage) => setOutage(gateway, 'onchain_provider', 'live', kind);

  afterEach(() => outage(null));

  test.each<Outage>(['answer_429', 'answer_503', 'refuse'])(
    'leaves the callback for later and opens no case: %s',
    async (kind) => {
      const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
      const id = await acceptedPayout(client);
      expect(await gateway.drive(id)).toBe('completed');
      await outage(kind);
      const claim = () => PAYOUT_CLAIMS.onchain_provider(id, secretOf('onchain_provider', 'live'));
      expect(await deliver('onchain_provider/live', claim())).toMatchObject({
        status: 503,
        json: { error: { code: 'service_unavailable' } },
      });
      await outage(null);
      expect(await deliver('onchain_provider/live', claim())).toMatchObject({ status: 200 });
      const cases = await gateway.db.query('SELECT kind FROM cases WHERE object_id = ?', [id]);
      expect(cases).toEqual([]);
    },
  );
});
