/** All activities, bound to what they work with. One line each: the work is in the folders. */
import type { PaymentInput, PayoutInput } from '../workflows/messages';
import { cleanUpKeys } from './clean-up';
import { checkPayment } from './payment/check';
import { openPayment } from './payment/open';
import { checkPayout } from './payout/check';
import { approvePayout, cancelPayout, rejectPayout } from './payout/decide';
import type { PayoutDeps } from './payout/deps';
import { reservePayout } from './payout/reserve';
import { submitPayout } from './payout/submit';
import { restartPayouts, type RestartDeps } from './reconcile';

export type ActivityDeps = PayoutDeps & RestartDeps;

export function createActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    reservePayout: (input: PayoutInput) => reservePayout(db, input),
    approvePayout: (id: string, by: string | null) => approvePayout(db, id, by),
    rejectPayout: (id: string, by: string | null, reason: string | null) =>
      rejectPayout(db, id, by, reason),
    cancelPayout: (id: string, by: string) => cancelPayout(db, id, by),
    submitPayout: (id: string) => submitPayout(deps, id),
    checkPayout: (id: string) => checkPayout(deps, id),
    openPayment: (input: PaymentInput) => openPayment(deps, input),
    checkPayment: (id: string) => checkPayment(deps, id),
    restartPayouts: () => restartPayouts(deps),
    cleanUpKeys: () => cleanUpKeys(db),
  };
}

export type Activities = ReturnType<typeof createActivities>;
