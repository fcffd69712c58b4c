/** The queues that a worker can take. `providers` stands for the task queues of all providers. */
export const WORKER_QUEUES = [
  'payouts',
  'batches',
  'payments',
  'webhooks',
  'webhooks-retry',
  'providers',
] as const;
export type WorkerQueue = (typeof WORKER_QUEUES)[number];
