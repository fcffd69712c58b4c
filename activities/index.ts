/** All activities, bound to what they work with. One line each: the work is in the folders. */
import type { StatementKey } from '../src/db/repositories/provider-statements';
import type {
  StatementPlace,
  PaymentDecision,
  PaymentInput,
  PaymentState,
  PayoutInput,
} from '../workflows/messages';
import { announceChanges } from './announce';
import { cleanUpKeys } from './clean-up';
import { abandonWebhookDelivery } from './webhook-delivery/abandon';
import {
  attemptWebhookDelivery,
  type AttemptOrder,
  type WebhookDeliveryDeps,
} from './webhook-delivery/attempt';
import { cleanUpWebhooks } from './webhook-delivery/clean-up';
import {
  restartWebhookDeliveries,
  type RestartWebhookDeliveriesDeps,
} from './restart-missing/webhook-deliveries';
import type { WebhookDeliveryStarter } from './webhook-delivery/starter';
import { checkPayment } from './payment/check';
import { decidePayment } from './payment/decide';
import { openPayment } from './payment/open';
import { watchPayment } from './payment/watch';
import { checkPayout } from './payout/check';
import { approvePayout, cancelPayout, rejectPayout } from './payout/decide';
import type { PayoutDeps } from './payout/deps';
import { reservePayout } from './payout/reserve';
import { submitPayout } from './payout/submit';
import { checkLedger } from './reconciliation/check-ledger';
import { askForMissing, lookAgain, noteDifferences } from './reconciliation/note-differences';
import { listStatements, readStatement } from './reconciliation/read-statements';
import {
  restartPayments,
  restartPayouts,
  type RestartDeps,
} from './restart-missing/payouts-and-payments';

export type ActivityDeps = PayoutDeps &
  RestartDeps &
  WebhookDeliveryDeps &
  RestartWebhookDeliveriesDeps & { webhookDeliveryStarter: WebhookDeliveryStarter };

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
    listStatements: () => Promise.resolve(listStatements(deps)),
    readStatement: (key: StatementKey, place: StatementPlace | null) =>
      readStatement(deps, key, place),
    askForMissing: () => askForMissing(deps),
    lookAgain: () => lookAgain(deps),
    noteDifferences: () => noteDifferences(db),
    checkLedger: () => checkLedger(db),
    cleanUpKeys: () => cleanUpKeys(db),
    attemptWebhookDelivery: (order: AttemptOrder) => attemptWebhookDelivery(deps, order),
    abandonWebhookDelivery: (delivery: Parameters<typeof abandonWebhookDelivery>[1]) =>
      abandonWebhookDelivery(db, delivery),
    restartWebhookDeliveries: () => restartWebhookDeliveries(deps),
    cleanUpWebhooks: () => cleanUpWebhooks(db),
  };
  return announceChanges(activities, (objectId) => {
    deps.webhookDeliveryStarter.notice(objectId);
  });
}

export type Activities = ReturnType<typeof createActivities>;
