/** A recipient in API responses, webhook events and the audit log. */
import type { Recipient } from '../domain/recipient';
import type { RecipientObject } from '../schemas/recipients';

export function presentRecipient(recipient: Recipient): RecipientObject {
  return {
    id: recipient.id,
    object: 'recipient',
    mode: recipient.mode,
    name: recipient.name,
    currency: recipient.currency,
    network: recipient.network,
    destination: {
      type: recipient.destinationType,
      value: recipient.destinationValue,
      memo: recipient.destinationMemo,
    },
    tags: recipient.tags,
    usable_from: recipient.usableFrom.toISOString(),
    awaits_second_person: recipient.awaitsSecondPerson,
    created_at: recipient.createdAt.toISOString(),
    updated_at: recipient.updatedAt.toISOString(),
    deleted_at: recipient.deletedAt?.toISOString() ?? null,
  };
}
