/** All activities, bound to their dependencies. The code is in the folders. */
import { activityInfo } from '@temporalio/activity';
import type { PayoutBatchEnding } from '../src/domain/payout-batch';
import type { StatementKey } from '../src/db/books/provider-statements';
import type {
  PaymentDecision,
  PaymentInput,
  PaymentState,
  PayoutBatchInput,
  PayoutInput,
  StatementPosition,
} from '../workflows/messages';
import { isLocalCall, stepOf } from './caller';
import { cleanUpKeys, cleanUpWebhooks, sumPostings } from './clean-up';
import type { Deps } from './deps';
import { checkLedger, noteLateLedgerCheck } from './ledger-check';
import { addressNotifications } from './notifications/address';
import { sendChatMessage } from './notifications/chat';
import type { NotificationDeps } from './notifications/deps';
import { sendMessage } from './notifications/send-message';
import { checkPayment, watchPayment } from './payment/check';
import { decidePayment } from './payment/decide';
import { cancelUnusedCheckout, openPayment } from './payment/open';
import { reserveRefund } from './payment/reserve-refund';
import { payRefund } from './payment/pay-refund';
import { withdrawRefund } from './payment/waiting-refunds';
import { approvePayout, cancelPayout, decidePayout, rejectPayout } from './payout/decide';
import { checkPayout, submitPayout } from './payout/provider';
import { releasePayout } from './payout/release';
import { screenQueued } from './payout/screen';
import { reservePayout } from './payout/reserve';
import { advancePayoutBatch } from './payout-batch/advance';
import {
  approvePayoutBatch,
  checkSecondPerson,
  decidePayoutBatch,
  endPayoutBatch,
} from './payout-batch/decide';
import { leaveOutOfPayoutBatch } from './payout-batch/leave-out';
import { reservePayoutBatch } from './payout-batch/reserve';
import { noteAlarms } from './provider-alarms';
import { screenRecipients } from './recipient/screen';
import { openScheduleRuns, restartScheduleRuns } from './payout-schedule/open';
import { runPayoutSchedule, type ScheduleDeps } from './payout-schedule/run';
import { askForMissing, lookAgain, noteDifferences } from './reconciliation/note-differences';
import { listStatements, readStatement } from './reconciliation/read-statements';
import {
  restartPayments,
  restartPayouts,
  resumeHeldPayouts,
  restartWebhookDeliveries,
  type RestartDeps,
  wakeWaitingPayouts,
} from './restart-missing';
import { type AuditDeps, sealAuditLog } from './seal-audit-log';
import {
  abandonWebhookDelivery,
  attemptWebhookDelivery,
  type AttemptOrder,
  type WebhookDeliveryDeps,
} from './webhook-delivery/attempt';
import type { WebhookDeliveryStarter } from './webhook-delivery/starter';

export type ActivityDeps = Deps &
  ScheduleDeps &
  RestartDeps &
  WebhookDeliveryDeps &
  NotificationDeps &
  AuditDeps & { webhookDeliveryStarter: WebhookDeliveryStarter };

export function createActivities(deps: ActivityDeps) {
  const { db } = deps;
  /** Runs a step of one object, which only its own workflow may call. */
  const forOwn = <T>(objectId: string, step: () => Promise<T>): Promise<T> =>
    stepOf(db, objectId, step);
  return {
    reservePayout: (input: PayoutInput) => forOwn(input.payoutId, () => reservePayout(deps, input)),
    approvePayout: (id: string, by: string | null, via?: 'signal') =>
      forOwn(id, () => approvePayout(deps, id, by, via)),
    rejectPayout: (id: string, by: string | null, reason: string | null) =>
      forOwn(id, () => rejectPayout(deps, id, by, reason)),
    cancelPayout: (id: string, by: string) => forOwn(id, () => cancelPayout(deps, id, by)),
    screenQueued: (id: string, decisionId: string | null) =>
      forOwn(id, () => screenQueued(deps, id, decisionId)),
    decidePayout: (id: string, decisionId: string) =>
      forOwn(id, () => decidePayout(deps, id, decisionId)),
    releasePayout: (id: string) => forOwn(id, () => releasePayout(deps, id)),
    // A repeated call may follow one that submitted and died. A local activity is repeated as attempt 1.
    submitPayout: (id: string, isUntaken = false) =>
      forOwn(id, () =>
        submitPayout(deps, id, isUntaken && !isLocalCall() && activityInfo().attempt === 1),
      ),
    checkPayout: (id: string) => forOwn(id, () => checkPayout(deps, id)),
    reservePayoutBatch: (input: PayoutBatchInput) =>
      forOwn(input.batchId, () => reservePayoutBatch(deps, input)),
    approvePayoutBatch: (id: string, by: string | null, manifestSha256: string, via?: 'signal') =>
      forOwn(id, () => approvePayoutBatch(deps, id, by, manifestSha256, via)),
    endPayoutBatch: (
      id: string,
      ending: PayoutBatchEnding,
      by: string | null,
      reason: string | null,
      via?: 'signal',
    ) => forOwn(id, () => endPayoutBatch(deps, id, ending, by, reason, via)),
    leaveOutOfPayoutBatch: (id: string, by: string, rowNumbers: readonly number[]) =>
      forOwn(id, () => leaveOutOfPayoutBatch(deps, id, by, rowNumbers)),
    checkSecondPerson: (id: string) => forOwn(id, () => checkSecondPerson(deps, id)),
    decidePayoutBatch: (id: string, decisionId: string) =>
      forOwn(id, () => decidePayoutBatch(deps, id, decisionId)),
    advancePayoutBatch: (id: string, approved: string | null) =>
      forOwn(id, () => advancePayoutBatch(deps, id, approved)),
    runPayoutSchedule: (id: string, scheduledFor: string) =>
      forOwn(`${id}-${scheduledFor}`, () => runPayoutSchedule(deps, id, new Date(scheduledFor))),
    openScheduleRuns: () => openScheduleRuns(deps),
    // Histories have its earlier name.
    followPayoutSchedules: () => restartScheduleRuns(deps),
    openPayment: (input: PaymentInput) => forOwn(input.paymentId, () => openPayment(deps, input)),
    cancelUnusedCheckout: (input: PaymentInput) =>
      forOwn(input.paymentId, () => cancelUnusedCheckout(deps, input)),
    checkPayment: (id: string) => forOwn(id, () => checkPayment(deps, id)),
    watchPayment: (id: string, seen: PaymentState) =>
      forOwn(id, () => watchPayment(deps, id, seen)),
    decidePayment: (id: string, decision: PaymentDecision) =>
      forOwn(id, () => decidePayment(deps, id, decision)),
    withdrawRefund: (paymentId: string, refundId: string) =>
      forOwn(paymentId, () => withdrawRefund(deps, paymentId, refundId)),
    payRefund: (paymentId: string, refundId: string) =>
      forOwn(paymentId, () => payRefund(deps, paymentId, refundId)),
    reserveRefund: (paymentId: string, refundId: string) =>
      forOwn(paymentId, () => reserveRefund(deps, paymentId, refundId)),
    resumeHeldPayouts: () => resumeHeldPayouts(deps),
    wakeWaitingPayouts: () => wakeWaitingPayouts(deps),
    restartPayouts: () => restartPayouts(deps),
    restartPayments: () => restartPayments(deps),
    // An activity returns a promise.
    listStatements: () => Promise.resolve(listStatements(deps)),
    readStatement: (key: StatementKey, position: StatementPosition | null) =>
      readStatement(deps, key, position),
    askForMissing: () => askForMissing(deps),
    lookAgain: () => lookAgain(deps),
    noteDifferences: () => noteDifferences(db),
    checkLedger: () => checkLedger(db),
    noteLateLedgerCheck: () => noteLateLedgerCheck(db),
    cleanUpKeys: () => cleanUpKeys(db),
    attemptWebhookDelivery: (order: AttemptOrder) => attemptWebhookDelivery(deps, order),
    abandonWebhookDelivery: (delivery: Parameters<typeof abandonWebhookDelivery>[1]) =>
      abandonWebhookDelivery(db, delivery),
    restartWebhookDeliveries: () => restartWebhookDeliveries(deps),
    cleanUpWebhooks: () => cleanUpWebhooks(db),
    sumPostings: () => sumPostings(db),
    sealAuditLog: () => sealAuditLog(deps),
    screenRecipients: () => screenRecipients(deps),
    noteAlarms: () => noteAlarms(deps),
    addressNotifications: () => addressNotifications(deps),
    sendNotification: (id: string) => sendMessage(deps, id),
    sendChatMessage: (id: string) => sendChatMessage(deps, id),
  };
}

export type Activities = ReturnType<typeof createActivities>;
