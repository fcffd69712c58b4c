/**
 * A checkout and what the chain says about it. Pure: the states of the protocol and the sums are
 * derived here, from rows that store.ts reads.
 */
import { type Amount, add, isLess, subtract, ZERO } from '../../../domain/money';
import type { WalletMode } from '../networks';

export interface Checkout {
  /** The id is also the secret part of the hosted page's address. */
  id: string;
  mode: WalletMode;
  reference: string;
  network: string;
  chainId: number;
  asset: string;
  decimals: number;
  amount: Amount;
  /** It is in lower case. */
  address: string;
  addressIndex: number;
  state: 'open' | 'cancelled' | 'failed';
  isHeld: boolean;
  holdDecision: 'released' | 'rejected' | null;
  description: string | null;
  merchantName: string | null;
  merchantLogoUrl: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  expiresAt: Date;
  refundAddress: string | null;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** How sure a deposit's block must be before the deposit is confirmed. */
export type Finality = 'safe' | 'finalized';

export interface Deposit {
  id: string;
  chainId: number;
  asset: string;
  units: bigint;
  /** It is rounded down to 8 decimals. */
  amount: Amount;
  txHash: string | null;
  sender: string | null;
  blockNumber: number;
  seenAt: Date;
  state: 'detected' | 'final' | 'vanished';
  finalAt: Date | null;
  screening: 'pending' | 'clear' | 'held';
  isExpected: boolean;
  isListed: boolean;
  bundleId: string | null;
  /** Whether enough nodes have shown it in its block. */
  isAgreed: boolean;
}

export interface Bundle {
  id: string;
  amount: Amount;
  seenAt: Date;
  finalAt: Date;
}

export interface Refund {
  id: string;
  reference: string;
  amount: Amount;
  /** `needs_address`: nobody has said where to, or the last address could not be paid. */
  state: 'needs_address' | 'sending' | 'sent';
  address: string | null;
  transferReference: string | null;
  txHash: string | null;
  refundedAt: Date | null;
}

export interface CheckoutFacts {
  checkout: Checkout;
  /** They are in the order of the chain. */
  deposits: readonly Deposit[];
  bundles: readonly Bundle[];
  refunds: readonly Refund[];
}

/** An entry of the protocol's list: a deposit, or a bundle of small ones once they are final. */
export type Entry = Pick<Deposit, 'id' | 'amount' | 'state' | 'seenAt' | 'finalAt' | 'txHash'>;

export function listEntries({ deposits, bundles }: CheckoutFacts): Entry[] {
  return [
    ...deposits.filter((one) => one.isExpected && one.isListed),
    ...bundles.map((one) => ({ ...one, state: 'final' as const, txHash: null })),
  ];
}

/** `customer_active`: something arrived, whatever became of it. */
export type ProtocolState = 'open' | 'customer_active' | 'cancelled' | 'failed';

export function protocolStateOf({ checkout, deposits }: CheckoutFacts): ProtocolState {
  if (checkout.state !== 'open') return checkout.state;
  return deposits.some(({ isExpected }) => isExpected) ? 'customer_active' : 'open';
}

export function confirmedAmount(facts: CheckoutFacts): Amount {
  return sumOf(listEntries(facts).filter(({ state }) => state === 'final'));
}

/** Adds up what is detected or final, small deposits as well. */
export function arrivedAmount({ deposits }: CheckoutFacts): Amount {
  return sumOf(deposits.filter((one) => one.isExpected && one.state !== 'vanished'));
}

/** The amount that the customer still has to send; never below zero. */
export function missingAmount(facts: CheckoutFacts): Amount {
  const arrived = arrivedAmount(facts);
  const { amount } = facts.checkout;
  return isLess(arrived, amount) ? subtract(amount, arrived) : ZERO;
}

/** Confirmed money that no refund has taken, sent or not. */
export function refundableAmount(facts: CheckoutFacts): Amount {
  return subtract(confirmedAmount(facts), sumOf(facts.refunds));
}

export function isPaid(facts: CheckoutFacts): boolean {
  return !isLess(confirmedAmount(facts), facts.checkout.amount);
}

/**
 * How sure a block must be before a deposit counts. What is at stake is the whole checkout, so that
 * splitting a large payment into small transfers gains nothing.
 * @param safeBelow null if every amount waits for `finalized`
 */
export function requiredFinality(
  { amount, asset }: Pick<Checkout, 'amount' | 'asset'>,
  arrived: Amount,
  safeBelow: Readonly<Record<string, Amount>>,
): Finality {
  const limit = safeBelow[asset];
  if (limit === undefined) return 'finalized';
  return isLess(amount, limit) && isLess(arrived, limit) ? 'safe' : 'finalized';
}

/** More entries would make the protocol's answer too long to read (256 KiB). */
export const LISTED_MAX = 100;

/** Whether a new deposit is an entry of its own; the answer is stored and never changes. */
export function isListedAlone(amount: Amount, floor: Amount, listedSoFar: number): boolean {
  return amount !== ZERO && !isLess(amount, floor) && listedSoFar < LISTED_MAX;
}

const BUNDLE_SHARE = 100n;

/**
 * The least sum of a bundle: the floor, and a hundredth of the order. A flood of small transfers then
 * costs its sender more than the order before it fills an answer.
 */
export function isBundleDue(
  sum: Amount,
  floor: Amount,
  { amount }: Pick<Checkout, 'amount'>,
): boolean {
  if (sum === ZERO || isLess(sum, floor)) return false;
  return digitsOf(sum) * BUNDLE_SHARE >= digitsOf(amount);
}

function digitsOf(of: Amount): bigint {
  return BigInt(of.replace('.', ''));
}

function sumOf(all: readonly { amount: Amount }[]): Amount {
  return all.length === 0 ? ZERO : add(...all.map(({ amount }) => amount));
}
