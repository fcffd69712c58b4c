/**
 * Recipients: destinations that a merchant has saved (decisions/payouts#recipients). A live recipient waits before
 * money may go to it, so that whoever steals a key or a session cannot send money to a new place at once.
 */
import type { Destination } from './destination';
import type { Refusal } from './errors';
import type { Owner } from './mode';
import type { PayoutOrder, PayoutRequest } from './payout';
import type { NewCondition } from './payout-condition';
import type { Verdict } from './screening';

/** A recipient as stored. */
export interface Recipient extends Owner {
  id: string;
  name: string;
  currency: string;
  /** Null for a transfer within a provider. */
  network: string | null;
  destinationType: Destination['type'];
  destinationValue: string;
  destinationMemo: string | null;
  tags: string[];
  createdBy: string;
  /** When the destination was set or last changed. */
  destinationSince: Date;
  usableFrom: Date;
  /** The person who set the destination, when another one has to approve it; null if nobody has to. */
  secondPerson: string | null;
  /** Whether that approval is missing. */
  awaitsSecondPerson: boolean;
  /** What the screening said of the destination; null if nobody was to be asked. */
  screening: 'asking' | Verdict | null;
  /** The time since when it has this destination, as exactly as the database knows it. */
  destinationVersion: string;
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

/** The fields that a merchant sets. */
export type RecipientRequest = Pick<Recipient, 'name' | 'currency' | 'network' | 'tags'> & {
  destination: PayoutRequest['destination'];
};

/** The fields of a change; a field that is absent stays as it is. */
export type RecipientChange = { [Field in keyof RecipientRequest]?: RecipientRequest[Field] };

/** A recipient with the time of the database at which it was read. */
export type ReadRecipient = Recipient & { readAt: Date };

/** A destination that has stood for this long is not new to the review, whatever the account's wait. */
const KNOWN_AFTER_MS = 24 * 60 * 60 * 1000;

/** A payout request whose destination is known. */
export interface Addressed {
  request: PayoutRequest;
  /** Whether its destination is no first use to the review. */
  isKnownRecipient: boolean;
  /** The time since when the recipient has this destination. */
  recipientSince?: string;
  /** The condition of a payout that waits until the recipient is ready. */
  condition?: NewCondition;
}

/**
 * The request with the destination of the recipient that it names.
 * @param recipients of the account and mode, by id
 * @param chosen what the route was chosen for, if it was: another destination needs another route
 */
export function addressed(
  order: PayoutOrder,
  recipients: ReadonlyMap<string, ReadRecipient>,
  chosen?: Pick<Addressed, 'recipientSince'>,
): Addressed | { refusal: Refusal } {
  const { destination, recipient: id = '' } = order;
  if (destination !== null) {
    return { request: { ...order, destination }, isKnownRecipient: false };
  }
  const recipient = recipients.get(id);
  if (recipient === undefined || recipient.deletedAt !== null) {
    return refuse('recipient', `The recipient ${id} does not exist. See GET /recipients.`);
  }
  const { currency, network, destinationSince, usableFrom, readAt } = recipient;
  if (order.currency !== currency) {
    const message = `This recipient receives ${currency}. Send currency as "${currency}".`;
    return refuse('currency', message);
  }
  if (order.network !== null && order.network !== network) {
    const on = network === null ? 'without a network' : `on ${network}`;
    return refuse('network', `This recipient is paid ${on}. Omit network.`);
  }
  const waits = order.release?.recipientReady === true;
  const why = waits ? null : whyNotReady(recipient);
  if (why !== null) return { refusal: notReady(recipient, why) };
  const recipientSince = destinationSince.toISOString();
  if (chosen !== undefined && chosen.recipientSince !== recipientSince) {
    return { refusal: notReady(recipient, CHANGED) };
  }
  const firstPaidAt = usableFrom > readAt ? usableFrom : readAt;
  return {
    recipientSince,
    request: { ...order, network, destination: destinationOf(recipient) },
    isKnownRecipient: firstPaidAt.getTime() - destinationSince.getTime() >= KNOWN_AFTER_MS,
    ...(waits ? { condition: readinessOf(recipient) } : {}),
  };
}

/** The sentence that says why it may not be paid yet, and what to do; null if it may be paid. */
function whyNotReady({
  awaitsSecondPerson,
  usableFrom,
  readAt,
  screening,
}: ReadRecipient): string | null {
  if (awaitsSecondPerson) return NOT_APPROVED;
  if (usableFrom > readAt) return waitsUntil(usableFrom);
  return isCleared(screening) ? null : NOT_POSSIBLE;
}

/** Whether the screening lets it be paid: it is clear, or there was no source to ask. */
export function isCleared(screening: Recipient['screening']): boolean {
  return screening === null || screening === 'clear';
}

function readinessOf({ id, destinationVersion, usableFrom }: Recipient): NewCondition {
  const at = usableFrom.toISOString();
  return { kind: 'recipient', parameters: { recipient: id, version: destinationVersion, at } };
}

/** The destination in the form of a payout request. */
export function destinationOf(recipient: Recipient): PayoutRequest['destination'] {
  const { destinationType: type, destinationValue: value, destinationMemo: memo } = recipient;
  return { type, value, memo };
}

function refuse(field: string, message: string): { refusal: Refusal } {
  const fields = [{ field, rule: 'unsupported' as const, message }];
  return { refusal: { code: 'validation_failed', details: { fields } } };
}

function notReady({ id, usableFrom }: Recipient, message: string): Refusal {
  const details = { recipient: id, usable_from: usableFrom.toISOString() };
  return { code: 'recipient_not_ready', details, message };
}

const CHANGED = 'The recipient was changed while the payout was requested. Send the payout again.';

/** The sentence is the same whatever the screening says, so that it warns nobody. */
const NOT_POSSIBLE =
  'Payouts to this recipient are not possible at present. Send the payout again later.';

const NOT_APPROVED =
  'Another person of your account must approve this recipient on the dashboard first. Send the payout again then, or send release.recipient_ready as true to reserve the funds now.';

function waitsUntil(time: Date): string {
  return `Payouts to this recipient are possible from ${time.toISOString()} on. Send the payout again then, or send release.recipient_ready as true to reserve the funds now.`;
}
