/** A cancellation belongs to the request that made it. Played through the activity over a real database. */
import { cancelPayout } from '../../../activities/payout/decide';
import { post } from '../../../src/db/ledger/ledger';
import { reservePosting } from '../../../src/domain/ledger';
import { newId } from '../../../src/platform/lib/new-id';
import { buildPayoutMoney, fundedBalance, insertPayout } from '../../support/merchant/ledger';
import { startPaymentWorld } from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld);

test('a request that cancels twice has cancelled; another one finds the payout cancelled', async () => {
  const key = await fundedBalance(world.db, '100');
  const payout = buildPayoutMoney('10');
  await world.db.transaction(async (tx) => {
    await insertPayout(tx, key, payout, 'under_review');
    await post(tx, key, reservePosting(payout));
  });
  const [first, second] = [newId('request'), newId('request')];
  const cancel = async (by: string) => (await cancelPayout(world, payout.id, by)).applied;
  expect(await cancel(first)).toBe(true);
  expect(await cancel(first)).toBe(true);
  expect(await cancel(second)).toBe(false);
});
