/**
 * A checkout as a provider holds it: what the merchant ordered, what came, what went back. An
 * on-chain provider calls it a checkout, Exchange Pay an order; the presenters know the words.
 */
import type { BookMode, SandboxSettings } from '../config';
import { sumOf, toUnits } from '../decimal-text';
import type { ReferenceKey } from '../records';

export const CHECKOUT_SCENARIO_NAMES = [
  'completed',
  'underpaid',
  'overpaid',
  'paid_again',
  'late',
  'on_hold',
  'refunded',
  'failed',
  'expired',
  'cancelled',
  'callback_lost',
  'callback_twice',
  'out_of_order',
] as const;
export type CheckoutScenario = (typeof CHECKOUT_SCENARIO_NAMES)[number];

export interface CheckoutOrder extends ReferenceKey {
  /** Normalized, 8 decimals. */
  amount: string;
  currency: string;
  network: string | null;
  expiresAt: string;
  successUrl: string | null;
  cancelUrl: string | null;
  description: string | null;
  /** Both are absent where the provider's protocol has none. */
  merchantName?: string | null;
  merchantLogoUrl?: string | null;
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
  /** The decision about the last hold; null while there is none. */
  holdDecision: 'released' | 'rejected' | null;
  failureCode: 'provider_error' | 'compliance_rejected' | null;
  transfers: readonly Received[];
  refunds: readonly Refund[];
  /** The steps that will happen by themselves, in order of time. */
  plan: readonly PlannedStep[];
  /** Counts the changes that callbacks tell of. */
  version: number;
  /** The newest version of which a callback was answered with 2xx. */
  acknowledgedVersion: number;
  createdAt: string;
  updatedAt: string;
}

/** Everything that can happen to a checkout, as data that can be planned and kept in the book. */
export type CheckoutStep =
  | { do: 'start' }
  /** With `at` the transfer was seen and confirmed at that time; else it is settled by `then`. */
  | { do: 'pay'; amount: string; at: string | null; then: 'confirm' | 'drop' | 'stay' }
  /** Without an id it means every transfer that is seen and not confirmed. */
  | { do: 'confirm' | 'drop'; transferId: string | null }
  /** The chain takes confirmed transfers back. */
  | { do: 'reorg'; transferId: string | null }
  | { do: 'hold' | 'release' | 'reject' | 'cancel' | 'fail' }
  /** Without an amount it means all that came and has not gone back. */
  | { do: 'refund'; refundReference: string | null; amount: string | null }
  | { do: 'plan'; planned: PlannedStep };

export interface PlannedStep {
  due: string;
  step: CheckoutStep;
}

/** Counts in hundred-millionths, as everything that is added up here. */
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

export function isSameOrder(checkout: Checkout, order: CheckoutOrder): boolean {
  // The time limit may differ, because a repetition of the order may be made by a later clock.
  return (
    checkout.amount === order.amount &&
    checkout.currency === order.currency &&
    checkout.network === order.network &&
    checkout.successUrl === order.successUrl &&
    checkout.cancelUrl === order.cancelUrl
  );
}

/**
 * Live mode plays nothing. A name that the sandbox does not know is ignored, because it may mean
 * something to the merchant.
 */
export function findScenario(mode: BookMode, name: unknown): CheckoutScenario | null {
  if (mode !== 'test') return null;
  return CHECKOUT_SCENARIO_NAMES.find((one) => one === name) ?? null;
}

/** Where a checkout's hosted page is. */
export function checkoutUrl(settings: SandboxSettings, { id }: Checkout): string {
  return `${settings.publicUrl ?? ''}/checkout/${id}`;
}
