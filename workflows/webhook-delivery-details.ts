/** What an operator reads on a delivery's page: how it went, what comes next, what to type. */
import type { WebhookDeliveryStatus } from '../src/domain/webhook-delivery';
import { code, list, signalLine } from './details';
import type { WebhookDeliveryInput, WebhookDeliveryState } from './messages';

const MEANING: Record<WebhookDeliveryStatus, string> = {
  pending: 'It is tried until the receiver answers with 2xx.',
  succeeded: 'The receiver has it.',
  failed: 'All attempts failed. It can be retried with `npm run admin -- webhooks retry`.',
  skipped: 'Nothing was sent. It can be taken up with `npm run admin -- webhooks recover`.',
  abandoned: 'An operator ended it.',
};

/** @param later 0: the attempt that was made last; 1: the next one */
export function nameAttempt(
  { attempts, attemptsMax }: WebhookDeliveryState,
  later: number,
): string {
  return `attempt ${Math.min(attempts + later, attemptsMax)} of ${attemptsMax}`;
}

/** @returns Markdown */
export function describeWebhookDelivery(
  { deliveryId, eventType, objectId, endpointId }: WebhookDeliveryInput,
  state: WebhookDeliveryState | null,
  notes: readonly string[],
): string {
  const status = state?.status ?? 'pending';
  return [
    `**${status}** · ${eventType} of ${objectId} to ${endpointId}`,
    MEANING[status],
    ...(state === null ? ['The first attempt is being made.'] : progress(state)),
    ...list('Remarks:', notes),
    ...(status === 'pending' ? commands(deliveryId) : []),
  ].join('\n\n');
}

function progress(state: WebhookDeliveryState): string[] {
  const { attempts, lastError, lastHttpStatus, next } = state;
  const answer = lastHttpStatus === null ? '' : ` (HTTP ${lastHttpStatus})`;
  const last = lastError === null ? 'without an error' : `${lastError}${answer}`;
  return [
    ...(attempts === 0 ? [] : [`Last: ${nameAttempt(state, 0)}, ${last}.`]),
    ...(next === null ? [] : [`Next: ${nameAttempt(state, 1)}, at ${next.at}.`]),
  ];
}

function commands(deliveryId: string): string[] {
  return [
    code(signalLine(deliveryId, 'retryNow')),
    code(signalLine(deliveryId, 'abandon', { by: 'you' })),
  ];
}
