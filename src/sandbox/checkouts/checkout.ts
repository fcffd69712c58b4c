/**
 * A checkout as a provider holds it: what the merchant ordered, what came, what went back. An
 * on-chain provider calls it a checkout, Exchange Pay an order; the presenters know the words.
 */
import { sumOf, toUnits } from '../decimal-text';
import type { BookMode, ProviderName } from '../config';
import type { CheckoutScenario } from './scenarios';
import type { PlannedStep } from './steps';

/** One client reference in one provider's book of one mode. */
export interface CheckoutKey {
  provider: ProviderName;
  mode: BookMode;
  reference: string;
}

export interface CheckoutOrder extends CheckoutKey {
  /** Normalized, 8 decimals. */
  amount: string;
  currency: string;
  network: string | null;
  expiresAt: string;
  successUrl: string | null;
  cancelUrl: string | null;
  description: string | null;
  scenario: CheckoutScenario | null;
}

export interface Received {
  id: string;
  amount: string;
  status: 'seen' | 'confirmed' | 'dropped';
  seenAt: string;
  confirmedAt: string | null;
  txHash: string | null;
}

export interface Refund {
  id: string;
  /** The merchant's; one that nobody asked for has the provider's own. */
  reference: string;
  amount: string;
  refundedAt: string;
}

export interface Checkout extends CheckoutOrder {
  /** Also the secret part of the hosted page's address. */
  id: string;
  /** An address on a chain, or a payment code of the exchange. */
  payTo: string;
  payToMemo: string | null;
  state: 'open' | 'started' | 'cancelled' | 'failed';
  onHold: boolean;
  /** What became of the last hold. */
  holdDecision: 'released' | 'rejected' | null;
  failureCode: 'provider_error' | 'compliance_rejected' | null;
  transfers: readonly Received[];
  refunds: readonly Refund[];
  /** What will happen by itself, in order of time. */
  plan: readonly PlannedStep[];
  /** Counts the changes that callbacks tell of. */
  version: number;
  /** The newest version of which a callback was answered with 2xx. */
  acknowledgedVersion: number;
  createdAt: string;
  updatedAt: string;
}

/** In hundred-millionths, as everything that is added up here. */
export function confirmedUnits(checkout: Checkout): bigint {
  return sumOf(
    checkout.transfers.filter(({ status }) => status === 'confirmed').map(({ amount }) => amount),
  );
}

/** Seen or confirmed. */
export function arrivedUnits(checkout: Checkout): bigint {
  return sumOf(
    checkout.transfers.filter(({ status }) => status !== 'dropped').map(({ amount }) => amount),
  );
}

export function refundedUnits(checkout: Checkout): bigint {
  return sumOf(checkout.refunds.map(({ amount }) => amount));
}

/** What the customer has still to send; never below zero. */
export function dueUnits(checkout: Checkout): bigint {
  const due = toUnits(checkout.amount) - arrivedUnits(checkout);
  return due > 0n ? due : 0n;
}

export function isPaid(checkout: Checkout): boolean {
  return confirmedUnits(checkout) >= toUnits(checkout.amount);
}

export function isSameOrder(checkout: Checkout, order: CheckoutOrder): boolean {
  // Not the time limit: a repetition of the order may be made of a later clock.
  return (
    checkout.amount === order.amount &&
    checkout.currency === order.currency &&
    checkout.network === order.network &&
    checkout.successUrl === order.successUrl &&
    checkout.cancelUrl === order.cancelUrl
  );
}
