/**
 * The envelopes of objects, of responses to creations and of webhook events. Only this module
 * creates the bytes that are stored (decisions/webhooks#webhook-bodies and decisions/api#idempotency).
 */
import type { EventType } from '../../domain/events';
import type { Mode } from '../../domain/mode';
import type { EventObject } from '../../features/webhooks/events-contract';

export function presentOne<Presented extends object>(data: Presented): { data: Presented } {
  return { data };
}

/**
 * The response to a request that created an object. The creating transaction stores it, and HTTP
 * sends the stored bytes, so that a replay is identical.
 */
export function presentCreated(data: object): { status: 201; body: Buffer } {
  return { status: 201, body: Buffer.from(JSON.stringify(presentOne(data))) };
}

export type EventData = EventObject['data'];

export interface EventHead {
  id: string;
  type: EventType;
  mode: Mode;
  sequence: number;
  createdAt: Date;
}

/** The data that a person sends with a test event. */
type SampleData = Readonly<Record<string, unknown>>;

/** The exact bytes of a webhook's body, the same for all attempts. */
export function presentEvent(event: EventHead, data: EventData | SampleData): Buffer {
  const body: Omit<EventObject, 'data'> & { data: EventData | SampleData } = {
    id: event.id,
    type: event.type,
    mode: event.mode,
    created_at: event.createdAt.toISOString(),
    sequence: event.sequence,
    data,
  };
  return Buffer.from(JSON.stringify(body));
}
