/** Names that cross processes. They are stored in histories: never rename one that has run. */
import type { Mode } from '../src/domain/mode';
import type { WorkerQueue } from '../src/domain/worker-queues';

export const TASK_QUEUES = {
  payouts: 'payouts',
  /** The queue of what nobody waits for: the rows of batches, runs of schedules, recovered payouts. */
  batches: 'batches',
  payments: 'payments',
  webhooks: 'webhooks',
  /**
   * The queue of retries, and of endpoints that time out, so that they do not delay first attempts.
   */
  webhooksRetry: 'webhooks-retry',
} as const satisfies Record<string, WorkerQueue>;

/**
 * The task queue of the calls to a provider in one mode. The Temporal server limits its rate for all
 * workers together, and a provider that hangs occupies no other provider's slots.
 */
export function providerQueue({ provider, mode }: { provider: string; mode: Mode }): string {
  return `provider-${provider}-${mode}`;
}

export const WORKFLOWS = {
  payout: 'payoutWorkflow',
  payoutBatch: 'payoutBatchWorkflow',
  payoutScheduleRun: 'payoutScheduleRunWorkflow',
  payoutSchedules: 'payoutSchedulesWorkflow',
  payment: 'paymentWorkflow',
  webhookDelivery: 'webhookDeliveryWorkflow',
  restartMissing: 'restartMissingWorkflow',
  resumeHeld: 'resumeHeldWorkflow',
  cleanUp: 'cleanUpWorkflow',
  reconciliation: 'reconciliationWorkflow',
  ledgerCheck: 'ledgerCheckWorkflow',
  auditSeal: 'auditSealWorkflow',
  notifications: 'notificationsWorkflow',
  notification: 'notificationWorkflow',
  screenRecipients: 'screenRecipientsWorkflow',
  providerAlarms: 'providerAlarmsWorkflow',
} as const;

export const SIGNALS = {
  approve: 'approve',
  reject: 'reject',
  release: 'release',
  cancel: 'cancel',
  refund: 'refund',
  providerUpdate: 'providerUpdate',
  retryNow: 'retryNow',
  abandon: 'abandon',
  wake: 'wake',
  stop: 'stop',
} as const;

export const UPDATES = {
  reserve: 'reserve',
  cancel: 'cancel',
  decide: 'decide',
  release: 'release',
  stop: 'stop',
  leaveOut: 'leaveOut',
  open: 'open',
  verify: 'verify',
  refund: 'refund',
  withdraw: 'withdraw',
  payRefund: 'payRefund',
} as const;
