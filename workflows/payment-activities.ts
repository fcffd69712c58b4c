/** The activities of a payment as its workflow calls them. */
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import { TRANSACTION } from './payout-activities';

/** A merchant waits for the checkout: it gives up on the provider before the API gives up on it. */
export const { openPayment } = proxyActivities<Pick<Activities, 'openPayment'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
  summary: 'open the checkout',
});

export const { checkPayment } = proxyActivities<Pick<Activities, 'checkPayment'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 ms', maximumInterval: '30 seconds' },
  summary: 'ask the provider',
});

/** Fails for as long as there is nothing new; each failure says when it is called again. */
export const { watchPayment } = proxyActivities<Pick<Activities, 'watchPayment'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 ms', maximumInterval: '30 seconds' },
  // Whoever calls it off goes on at once: looking once more does no harm.
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: 'look at the provider now and then',
});

/** One short transaction, tried until the database answers. */
export const { decidePayment } =
  proxyLocalActivities<Pick<Activities, 'decidePayment'>>(TRANSACTION);
