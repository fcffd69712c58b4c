/** Names that cross processes. They are stored in histories: never rename one that has run. */
export const TASK_QUEUES = {
  payouts: 'payouts',
  payments: 'payments',
  webhooks: 'webhooks',
  /** For retries and for endpoints that time out, so that they do not delay first attempts. */
  webhooksRetry: 'webhooks-retry',
} as const;

export type TaskQueue = (typeof TASK_QUEUES)[keyof typeof TASK_QUEUES];

export const WORKFLOWS = {
  payout: 'payoutWorkflow',
  payment: 'paymentWorkflow',
  webhookDelivery: 'webhookDeliveryWorkflow',
  restartMissing: 'restartMissingWorkflow',
  resumeHeld: 'resumeHeldWorkflow',
  cleanUp: 'cleanUpWorkflow',
  reconciliation: 'reconciliationWorkflow',
  ledgerCheck: 'ledgerCheckWorkflow',
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
} as const;

export const UPDATES = {
  reserve: 'reserve',
  cancel: 'cancel',
  open: 'open',
  verify: 'verify',
} as const;
