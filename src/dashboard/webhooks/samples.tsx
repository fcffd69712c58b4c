/** What each event looks like: for the event picker and the test event. */
import { type EventType, SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { PAYMENT_OPERATIONS } from '../../schemas/payments';
import { PAYOUT_OPERATIONS } from '../../schemas/payouts';

function exampleOf(operations: typeof PAYMENT_OPERATIONS, id: string): object {
  const example = operations.find((operation) => operation.id === id)?.success.example;
  return (example as { data: object } | undefined)?.data ?? {};
}

const PAYMENT = exampleOf(PAYMENT_OPERATIONS, 'getPayment');
const PAYOUT = exampleOf(PAYOUT_OPERATIONS, 'getPayout');

/** The `data` of an event: the object as the API returns it. */
export function sampleData(type: EventType): string {
  const [object, status] = type.split('.');
  const example = object === 'payment' ? PAYMENT : PAYOUT;
  return JSON.stringify({ ...example, status }, null, 2);
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
