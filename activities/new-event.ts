/** The event of a status change, with the bytes that will be sent for it (decision H1). */
import type { NewEvent } from '../src/db/repositories/events';
import type { Payment } from '../src/domain/payment';
import type { Payout } from '../src/domain/payout';
import { newId } from '../src/lib/new-id';
import { type EventData, presentEvent } from '../src/presenters/envelope';

/**
 * @param object as it stands after the change
 * @param data the object as it is presented
 */
export function newEvent(type: string, object: Payment | Payout, data: EventData): NewEvent {
  const { mode, sequence, accountId, id: objectId, updatedAt: createdAt } = object;
  const head = { id: newId('event'), type, mode, sequence, createdAt };
  return { ...head, accountId, objectId, body: presentEvent(head, data) };
}
