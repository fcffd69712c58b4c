/** What depends on time follows the clock of PostgreSQL: that of a worker may be wrong. */
import { checkPayment } from '../../../activities/payment/check';
import { checkPayout } from '../../../activities/payout/provider';
import { databaseTime } from '../../../src/db/database-time';
import { findPayment } from '../../../src/db/payments/payments';
import { buildPayoutMoney, insertPayout, makeAccount } from '../../support/merchant/ledger';
import { openPayment, startPaymentWorld } from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld);

/** Only the clock: timers and the monotonic time stay. */
function setClockWrong(byMs: number): void {
  const real = Date.now;
  class WrongDate extends Date {
    constructor(...parts: unknown[]) {
      super(...([...parts, real() + byMs].slice(0, Math.max(1, parts.length)) as []));
    }
    static override now = () => real() + byMs;
  }
  const original = globalThis.Date;
  globalThis.Date = WrongDate as DateConstructor;
  restoreClock = () => {
    globalThis.Date = original;
  };
}
let restoreClock = (): void => undefined;
afterEach(() => {
  restoreClock();
});

const TEN_MINUTES_MS = 600_000;
const TWO_HOURS_MS = 7_200_000;

test.each([TEN_MINUTES_MS, -TEN_MINUTES_MS])(
  'the time with a clock that is %i ms wrong',
  async (by) => {
    const before = Date.now();
    setClockWrong(by);
    const time = (await databaseTime(world.db)).getTime();
    expect(Math.abs(time - before)).toBeLessThan(TEN_MINUTES_MS / 10);
  },
);

test('a payout that waits for its provider is checked again soon, whatever the clock says', async () => {
  const accountId = await makeAccount(world.db);
  const payout = buildPayoutMoney('10');
  const place = { accountId, mode: 'test', currency: 'USDT' } as const;
  await insertPayout(world.db, place, payout, 'processing', { processing_since: new Date() });
  setClockWrong(TEN_MINUTES_MS);
  const state = await checkPayout(world, payout.id);
  expect(state).toMatchObject({ status: 'processing', attentionLevel: 0 });
  expect(state.wait?.ms).toBeLessThan(60_000);
});

test('a payment does not expire because the clock is ahead', async () => {
  const { id } = await openPayment(world);
  setClockWrong(TWO_HOURS_MS);
  const state = await checkPayment(world, id);
  restoreClock();
  expect(state.wait?.ms).toBeLessThan(60_000);
  expect((await findPayment(world.db, id))?.status).toBe('created');
});
