/**
 * The envelopes around what is presented: an object, the answer of a creation, a webhook event. The
 * bytes that are stored (decisions H1 and I2) are made here and nowhere else.
 */
import type { EventType } from '../domain/events';
import type { Mode } from '../domain/mode';
import type { EventObject } from '../schemas/events';

export function presentOne<Presented extends object>(data: Presented): { data: Presented } {
  return { data };
}

/**
 * The answer of a request that created an object. The transaction that creates it stores the
 * answer, and HTTP writes what is stored, so that a replay has the same bytes.
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

/** The exact bytes of a webhook's body, fixed once and for all attempts. */
export function presentEvent(event: EventHead, data: EventData): Buffer {
  const body: EventObject = {
    id: event.id,
    type: event.type,
    mode: event.mode,
    created_at: event.createdAt.toISOString(),
    sequence: event.sequence,
    data,
  };
  return Buffer.from(JSON.stringify(body));
}
