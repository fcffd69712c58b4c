/**
 * A refund of a payment as merchants see it, and the rules for asking for one (decisions/payments#refunds). It is
 * pending while the provider has not answered, and the engine knows more states: payment-step.ts.
 */
import type { Destination, DestinationType } from './destination';
import type { Refusal } from './errors';
import type { Owner } from './mode';
import { type Amount, add, isLess, subtract, ZERO } from './money';
import { DECIDABLE, type Payment } from './payment';
import { refundableOf } from './payment-pricing';
import type { PaymentRefund, RefundState } from './payment-step';

/** The statuses of a refund on the wire. */
export const REFUND_STATUSES = ['pending', 'completed', 'failed'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** Owed and waived refunds were sent back by the provider, so for the merchant they are completed. */
const STATUS_OF: Record<RefundState, RefundStatus> = {
  ordered: 'pending',
  done: 'completed',
  owed: 'completed',
  waived: 'completed',
  refused: 'failed',
};

/** The status on the wire of a refund in this state. */
export function refundStatus(state: RefundState): RefundStatus {
  return STATUS_OF[state];
}

/** What pages call a refund: while nobody has named its address, it has a name of its own. */
export function shownRefundStatus(refund: Refund): RefundStatus | 'awaits_address' {
  return awaitsAddress(refund) ? 'awaits_address' : refundStatus(refund.state);
}

/** The states with these statuses. */
export function refundStates(statuses: readonly RefundStatus[]): RefundState[] {
  const states = Object.keys(STATUS_OF) as RefundState[];
  return states.filter((state) => statuses.includes(STATUS_OF[state]));
}

/** Who can ask for a refund. */
export const REFUND_REQUESTERS = ['merchant', 'operator', 'provider'] as const;
export type RefundRequester = (typeof REFUND_REQUESTERS)[number];

/** A refund as stored. `reference` is its name at the provider. */
export interface Refund extends PaymentRefund, Owner {
  id: string;
  paymentId: string;
  currency: string;
  requestedBy: RefundRequester;
  /** The operator's name. */
  operator: string | null;
  /** The key, or the user of the dashboard, with which the merchant asked. */
  apiKeyId: string | null;
  merchantReference: string | null;
  reason: string | null;
  destination: Destination | null;
  refusal: string | null;
  /** The person who asked for it on the dashboard, when another one has to approve it. */
  secondPerson: string | null;
  secondPersonUntil: Date | null;
  /** Whether that approval is missing; until then the provider is not asked. */
  awaitsPerson: boolean;
  /** The time until which an address has to be named; null if the money goes to who paid. */
  addressUntil: Date | null;
  /** The payout that carries the money to that address. */
  payoutId: string | null;
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
  /** When the provider confirmed or refused it. */
  endedAt: Date | null;
}

/** A refund request after validation. `amount` null means everything that can still be refunded. */
export interface RefundRequest {
  paymentId: string;
  amount: Amount | null;
  reference: string;
  reason: string | null;
  destination: Destination | null;
}

/** The filters of a list of refunds (decisions/api#lists). */
export interface RefundFilters {
  paymentId?: string;
  status?: RefundStatus[];
  reference?: string;
  currency?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}

/** What the payment's provider can do about refunds. */
export interface RefundAbility {
  name: string;
  refunds: boolean;
  /** Not empty if it does not know who paid, so a refund needs an address and is sent as a payout. */
  destinationTypes: readonly DestinationType[];
}

/** Whether a refund at this provider needs an address, because the provider does not know who paid. */
export function needsAddress({
  destinationTypes,
}: Pick<RefundAbility, 'destinationTypes'>): boolean {
  return destinationTypes.length > 0;
}

/**
 * The time to name an address, which is as long as payments take late money. A customer who does not answer
 * a mail in this time needs another way, and the merchant should not miss the money for longer.
 */
export const ADDRESS_WAIT_MS = 30 * 24 * 60 * 60 * 1000;

/** Whether nobody has named the address yet, so that nothing can leave. */
export function awaitsAddress({
  state,
  addressUntil,
  payoutId,
}: Pick<Refund, 'state' | 'addressUntil' | 'payoutId'>): boolean {
  return state === 'ordered' && addressUntil !== null && payoutId === null;
}

/** Whether the refund is only taken from the balance and can still be given back. */
export function isWaiting(refund: Refund): boolean {
  return awaitsAddress(refund) || (refund.state === 'ordered' && refund.awaitsPerson);
}

/**
 * What can still be refunded: what was credited, less the refunds that are done or under way. A refund
 * that is owed or waived went to the customer too, although the balance has not paid for it.
 */
export function leftToRefund(payment: Payment, refunds: readonly PaymentRefund[]): Amount {
  if (!DECIDABLE.refund.includes(payment.status)) return ZERO;
  const unpaid = refunds.filter(({ state }) => state === 'owed' || state === 'waived');
  const gone = add(ZERO, ...unpaid.map(({ amount }) => amount));
  const left = refundableOf(payment);
  return isLess(gone, left) ? subtract(left, gone) : ZERO;
}

/**
 * Whether a merchant may ask for this refund now. The balance is not a part of it: the posting decides.
 * @param refunds all refunds of the payment
 * @returns the amount, or the refusal
 */
export function refundTerms(
  payment: Payment,
  refunds: readonly PaymentRefund[],
  { amount, destination }: Pick<RefundRequest, 'amount' | 'destination'>,
  ability: RefundAbility,
): { amount: Amount } | { refusal: Refusal } {
  const { status, currency } = payment;
  if (!ability.refunds) {
    const message = `${ability.name} cannot refund. Pay your customer in another way.`;
    return { refusal: { code: 'invalid_state', details: { status }, message } };
  }
  if (destination !== null && !ability.destinationTypes.includes(destination.type)) {
    const types = ability.destinationTypes.join(', ');
    const message =
      types === ''
        ? `Omit destination: ${ability.name} refunds to the account that paid.`
        : `Send destination.type as one of ${types}, or omit destination.`;
    const fields = [{ field: 'destination', rule: 'unsupported' as const, message }];
    return { refusal: { code: 'validation_failed', details: { fields } } };
  }
  if (payment.creditedAmount === ZERO) {
    const message = `This payment is ${status}. Only a payment that was credited can be refunded.`;
    return { refusal: { code: 'invalid_state', details: { status }, message } };
  }
  const refundable = leftToRefund(payment, refunds);
  const requested = amount ?? refundable;
  if (refundable === ZERO || isLess(refundable, requested)) {
    return {
      refusal: { code: 'refund_exceeds_payment', details: { currency, requested, refundable } },
    };
  }
  return { amount: requested };
}
