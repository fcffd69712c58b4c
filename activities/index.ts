/** All activities, bound to what they work with. One line each: the work is in the folders. */
import type { BookKey } from '../src/db/repositories/provider-books';
import type {
  BookPlace,
  PaymentDecision,
  PaymentInput,
  PaymentState,
  PayoutInput,
} from '../workflows/messages';
import { announceChanges } from './announce';
import { cleanUpKeys } from './clean-up';
import { abandonDelivery } from './delivery/abandon';
import { attemptDelivery, type AttemptOrder, type DeliveryDeps } from './delivery/attempt';
import { cleanUpWebhooks } from './delivery/clean-up';
import { restartDeliveries, type RestartDeliveriesDeps } from './delivery/restart';
import type { DeliveryStarter } from './delivery/starter';
import { checkPayment } from './payment/check';
import { decidePayment } from './payment/decide';
import { openPayment } from './payment/open';
import { watchPayment } from './payment/watch';
import { checkPayout } from './payout/check';
import { approvePayout, cancelPayout, rejectPayout } from './payout/decide';
import type { PayoutDeps } from './payout/deps';
import { reservePayout } from './payout/reserve';
import { submitPayout } from './payout/submit';
import { checkLedger } from './reconcile/check-ledger';
import { askForMissing, lookAgain, noteDifferences } from './reconcile/note-differences';
import { listBooks, readBook } from './reconcile/read-books';
import { restartPayments, restartPayouts, type RestartDeps } from './reconcile/restart';

export type ActivityDeps = PayoutDeps &
  RestartDeps &
  DeliveryDeps &
  RestartDeliveriesDeps & { deliveryStarter: DeliveryStarter };

export function createActivities(deps: ActivityDeps) {
  const { db } = deps;
  const activities = {
    reservePayout: (input: PayoutInput) => reservePayout(db, input),
    approvePayout: (id: string, by: string | null) => approvePayout(db, id, by),
    rejectPayout: (id: string, by: string | null, reason: string | null) =>
      rejectPayout(db, id, by, reason),
    cancelPayout: (id: string, by: string) => cancelPayout(db, id, by),
    submitPayout: (id: string) => submitPayout(deps, id),
    checkPayout: (id: string) => checkPayout(deps, id),
    openPayment: (input: PaymentInput) => openPayment(deps, input),
    checkPayment: (id: string) => checkPayment(deps, id),
    watchPayment: (id: string, seen: PaymentState) => watchPayment(deps, id, seen),
    decidePayment: (id: string, decision: PaymentDecision) => decidePayment(deps, id, decision),
    restartPayouts: () => restartPayouts(deps),
    restartPayments: () => restartPayments(deps),
    // Temporal waits for a promise.
    listBooks: () => Promise.resolve(listBooks(deps)),
    readBook: (key: BookKey, place: BookPlace | null) => readBook(deps, key, place),
    askForMissing: () => askForMissing(deps),
    lookAgain: () => lookAgain(deps),
    noteDifferences: () => noteDifferences(db),
    checkLedger: () => checkLedger(db),
    cleanUpKeys: () => cleanUpKeys(db),
    attemptDelivery: (order: AttemptOrder) => attemptDelivery(deps, order),
    abandonDelivery: (delivery: Parameters<typeof abandonDelivery>[1]) =>
      abandonDelivery(db, delivery),
    restartDeliveries: () => restartDeliveries(deps),
    cleanUpWebhooks: () => cleanUpWebhooks(db),
  };
  return announceChanges(activities, (objectId) => {
    deps.deliveryStarter.notice(objectId);
  });
}

export type Activities = ReturnType<typeof createActivities>;
