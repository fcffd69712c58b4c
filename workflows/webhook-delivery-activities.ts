/** The activities of a delivery as its workflow calls them. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { WebhookDeliveryState } from './messages';

type Attempt = Pick<Activities, 'attemptWebhookDelivery'>;

/**
 * Longer than an attempt can take (10 s, and 2 s for the body) with its statements. A worker that
 * died is noticed after this; the next call counts its attempt as lost. The retries are of the
 * call, not of the delivery: an endpoint without a free slot, a database that is away.
 */
const ATTEMPT = {
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '250 ms', maximumInterval: '30 seconds' },
} as const;

/** @param taskQueue first attempts and retries have workers of their own */
export function attemptWebhookDelivery(
  order: Parameters<Attempt['attemptWebhookDelivery']>[0],
  taskQueue: string,
  summary: string,
): Promise<WebhookDeliveryState> {
  const proxy = proxyActivities<Attempt>({ ...ATTEMPT, taskQueue, summary });
  return proxy.attemptWebhookDelivery(order);
}

export const { abandonWebhookDelivery } = proxyActivities<
  Pick<Activities, 'abandonWebhookDelivery'>
>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '250 ms', maximumInterval: '30 seconds' },
  summary: 'abandon',
});
