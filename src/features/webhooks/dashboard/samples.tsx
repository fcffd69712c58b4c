/** Samples of the events, for the event picker and the test event. */
import {
  type EventType,
  PAYMENT_RECEIVED,
  PAYOUT_BATCH_EVENTS,
  SUBSCRIBABLE_EVENTS,
} from '../../../domain/events';
import type { Operation } from '../../../kit/api/operation';
import { PAYMENT_OPERATIONS } from '../../payments/payments-contract';
import { PAYOUT_BATCH_OPERATIONS } from '../../payout-batches/payout-batches-contract';
import { PAYOUT_SCHEDULE_OPERATIONS } from '../../payout-schedules/payout-schedules-contract';
import { PAYOUT_OPERATIONS } from '../../payouts/payouts-contract';
import { RECIPIENT_OPERATIONS } from '../../recipients/recipients-contract';
import { REFUND_OPERATIONS } from '../../payments/refunds-contract';

function exampleOf(operations: readonly Operation[], id: string): object {
  const example = operations.find((operation) => operation.id === id)?.success.example;
  return (example as { data: object } | undefined)?.data ?? {};
}

/** The key is the first word of the event's type. */
const EXAMPLES: Readonly<Record<string, object>> = {
  payment: exampleOf(PAYMENT_OPERATIONS, 'getPayment'),
  refund: exampleOf(REFUND_OPERATIONS, 'getRefund'),
  payout: exampleOf(PAYOUT_OPERATIONS, 'getPayout'),
  payout_batch: exampleOf(PAYOUT_BATCH_OPERATIONS, 'getPayoutBatch'),
  payout_schedule: exampleOf(PAYOUT_SCHEDULE_OPERATIONS, 'getPayoutSchedule'),
  recipient: exampleOf(RECIPIENT_OPERATIONS, 'getRecipient'),
};

/** The `data` of an event: the object as the API returns it. */
export function sampleData(type: EventType): string {
  const [object = ''] = type.split('.');
  const sample = { ...EXAMPLES[object], mode: 'test', ...changeOf(type) };
  return JSON.stringify(sample, null, 2);
}

/** The fields of the object that differ from the example in this event. */
function changeOf(type: EventType): object {
  const [object = '', change = ''] = type.split('.');
  if (type === PAYMENT_RECEIVED) return { status: 'completed' };
  if (object === 'recipient') {
    return change === 'deleted' ? { deleted_at: '2026-11-25T16:20:00.000Z' } : {};
  }
  if (object === 'payout_schedule') return change === 'ended' ? { status: 'ended' } : {};
  if (object === 'payout_batch') {
    const statuses = Object.entries(PAYOUT_BATCH_EVENTS);
    return { status: statuses.find(([, event]) => event === type)?.[0] };
  }
  return { status: type === 'refund.created' ? 'pending' : change };
}

export function EventSamples() {
  return (
    <details>
      <summary>Sample bodies</summary>
      {SUBSCRIBABLE_EVENTS.map((type) => (
        <details>
          <summary>{type}</summary>
          <pre class="code">{sampleBody(type)}</pre>
        </details>
      ))}
    </details>
  );
}

function sampleBody(type: EventType): string {
  const head = { id: 'evt_01M7YESA634WQFACSBWYSTKM76', type, mode: 'test' };
  const rest = { created_at: '2026-11-21T07:05:30.632Z', sequence: 1 };
  return JSON.stringify(
    { ...head, ...rest, data: JSON.parse(sampleData(type)) as object },
    null,
    2,
  );
}
