/** The page of an object, by its id. */
import { type IdKind, kindOfId } from '../../domain/ids';

const PAGES: Partial<Record<IdKind, string>> = {
  payment: '/payments',
  paymentLink: '/payment-links',
  payout: '/payouts',
  payoutBatch: '/batches',
  payoutSchedule: '/schedules',
  recipient: '/recipients',
  refund: '/refunds',
  apiKey: '/keys',
  webhookEndpoint: '/webhooks',
  webhookDelivery: '/webhooks/deliveries',
  request: '/requests',
};

/** Below the mode. Null if it is no id, or no page shows the object. */
export function objectPath(id: string): string | null {
  const kind = kindOfId(id);
  const folder = kind === null ? undefined : PAGES[kind];
  return folder === undefined ? null : `${folder}/${id}`;
}
