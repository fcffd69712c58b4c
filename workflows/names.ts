/** Names that cross processes. They are stored in histories: never rename one that has run. */
export const TASK_QUEUES = { payouts: 'payouts', payments: 'payments' } as const;

export const WORKFLOWS = {
  payout: 'payoutWorkflow',
  payment: 'paymentWorkflow',
  reconcile: 'reconcileWorkflow',
} as const;

export const SIGNALS = {
  approve: 'approve',
  reject: 'reject',
  providerNews: 'providerNews',
} as const;

export const UPDATES = {
  reserve: 'reserve',
  cancel: 'cancel',
  open: 'open',
  verify: 'verify',
} as const;
