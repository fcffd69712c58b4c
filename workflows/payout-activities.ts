/** The activities of a payout as its workflow calls them. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

type Local = Pick<Activities, 'reservePayout' | 'approvePayout' | 'rejectPayout'>;
type Cancelling = Pick<Activities, 'cancelPayout'>;
type Remote = Pick<Activities, 'submitPayout' | 'checkPayout'>;

/** Of a step that is one short transaction. */
export const TRANSACTION = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 ms', maximumInterval: '10 seconds' },
} as const;

const local = proxyLocalActivities<Local>(TRANSACTION);

/**
 * Not local: an update is written down when its workflow task ends, and a local activity runs
 * before that. After a crash in between, the row would be cancelled and its workflow wait for ever.
 */
const cancelling = proxyActivities<Cancelling>({
  ...TRANSACTION,
  // A merchant waits: when a worker dies with it, another must have it before that is over.
  startToCloseTimeout: '4 seconds',
  summary: 'cancel',
});

/** One short transaction each, tried until the database answers: no payout may be dropped. */
export const database: Local & Cancelling = {
  reservePayout: local.reservePayout,
  approvePayout: local.approvePayout,
  rejectPayout: local.rejectPayout,
  cancelPayout: cancelling.cancelPayout,
};

/**
 * A provider's slowness or refusal comes back as a value; what throws is our own database. The
 * time-out leaves room for two calls to the provider.
 */
const RETRY = { initialInterval: '500 ms', maximumInterval: '30 seconds' } as const;

const submitting = proxyActivities<Pick<Remote, 'submitPayout'>>({
  startToCloseTimeout: '30 seconds',
  retry: RETRY,
  summary: 'hand over to the provider',
});
const checking = proxyActivities<Pick<Remote, 'checkPayout'>>({
  startToCloseTimeout: '30 seconds',
  retry: RETRY,
  summary: 'ask the provider',
});

export const provider: Remote = {
  submitPayout: submitting.submitPayout,
  checkPayout: checking.checkPayout,
};
