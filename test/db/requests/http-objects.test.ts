/** Objects of an account and a mode, asked for with the keys of others: as if there were none. */
import { errorOf, bearer, startHarness } from '../http-harness';
import { newId } from '../../../src/platform/lib/new-id';
import { fund, insertPayment } from '../../support/merchant/ledger';
import { insertPayouts } from '../../support/merchant/listed-rows';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
const owned = { accountId: '', payout: newId('payout'), payment: '' };
/** The owner's key, a live key of the same account, and a key of another account. */
let keys: [own: string, live: string, other: string];

beforeAll(async () => {
  const own = await harness.createKey();
  const { accountId } = own;
  const live = await harness.createKey({ accountId, mode: 'live' });
  keys = [own.secret, live.secret, (await harness.createKey()).secret];
  const balance = { accountId, mode: 'test', currency: 'USDT' } as const;
  await fund(harness.owner, balance, '100');
  const at = new Date().toISOString();
  await insertPayouts(harness.owner, { accountId, mode: 'test' }, [
    { id: owned.payout, at, currency: 'USDT', status: 'completed', provider: 'exchange_pay' },
  ]);
  Object.assign(owned, { payment: await insertPayment(harness.owner, balance, 'completed') });
});

const get = (path: string, secret: string) =>
  fetch(`${gateway.url}/api/v1${path}`, { headers: bearer(secret) });

test('an object of another account or mode does not exist', async () => {
  for (const path of [`/payouts/${owned.payout}`, `/payments/${owned.payment}`]) {
    const [own, ...others] = await Promise.all(keys.map((secret) => get(path, secret)));
    expect([path, own!.status]).toEqual([path, 200]);
    for (const answer of others) {
      expect([path, answer.status, (await errorOf(answer)).code]).toEqual([path, 404, 'not_found']);
    }
  }
});

test('lists have what the account and mode of the key have', async () => {
  for (const path of ['/payouts', '/payments', '/transactions', '/balance']) {
    const lengths = await Promise.all(
      keys.map(async (secret) => {
        const json = (await (await get(path, secret)).json()) as Record<string, unknown[]>;
        return (json['data'] ?? json['balances'])?.length;
      }),
    );
    expect([path, lengths]).toEqual([path, [1, 0, 0]]);
  }
});
