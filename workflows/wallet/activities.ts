/** The calls of activities by the wallet's workflows: typed proxies and the shared policies. */
import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import { guarded } from '../activities';
import type { WalletActivities } from './messages';

const RETRY = { initialInterval: '1 second', maximumInterval: '30 seconds' } as const;

/** The policy of a few statements, retried until the database answers. */
export const SHORT = { startToCloseTimeout: '30 seconds', retry: RETRY } as const;

/**
 * The policy of long work: without a heartbeat the process is dead, and another one goes on. Nothing
 * here ends by time.
 */
export const LONG = {
  startToCloseTimeout: '365 days',
  heartbeatTimeout: '10 seconds',
  retry: RETRY,
} as const;

export function walletActivities<N extends keyof WalletActivities>(options: ActivityOptions) {
  return guarded(proxyActivities<Pick<WalletActivities, N>>(options));
}
