/**
 * What the gateway, a customer and an operator do to a checkout: open, cancel, decide a hold, say where a rejected
 * payment goes back to. Each is one transaction that begins with the checkout's lock; repeating one changes
 * nothing.
 */
import { randomBytes } from 'node:crypto';
import type { Address } from 'viem';
import { type Amount, isLess, ZERO } from '../../../domain/money';
import type { CheckoutOrder, CheckoutStep } from '../../onchain-api/requests';
import { ADDRESS_INDEX_MAX, type DepositAddresses } from '../addresses/deposit-addresses';
import type { Database, Tx } from '../db/database';
import { recordDecision } from '../decisions';
import { findPlace } from '../follower/place';
import type { Network, WalletMode } from '../networks';
import { NATIVE_DECIMALS, unitsOf } from '../units';
import {
  arrivedAmount,
  type CheckoutFacts,
  confirmedAmount,
  isPaid,
  refundableAmount,
} from './checkout';
import {
  announceCheckouts,
  findCheckout,
  findCheckoutById,
  insertCheckout,
  lockCheckout,
  nextAddressIndex,
  type PageUrl,
} from './store';

export interface CheckoutParts {
  db: Database;
  networks: readonly Network[];
  /** Null where the wallet has no key for the mode. */
  addresses: Record<WalletMode, DepositAddresses | null>;
  pageUrl: PageUrl;
}

export type OpeningRefusal =
  | 'asset_not_supported'
  | 'amount_not_representable'
  | 'client_reference_conflict'
  /** No node of the network has answered since it was configured. */
  | 'network_not_ready';

export type Opening =
  | { kind: 'checkout'; facts: CheckoutFacts; isNew: boolean }
  | { kind: 'refused'; reason: OpeningRefusal };

/** Opens one checkout for each reference, with an address of its own. */
export async function openCheckout(
  { db, networks, addresses }: CheckoutParts,
  order: CheckoutOrder,
): Promise<Opening> {
  const known = await findCheckout(db, order.mode, order.reference);
  if (known !== null) return repeated(known, order);
  const network = networks.find(({ mode, name }) => mode === order.mode && name === order.network);
  const decimals = network === undefined ? null : decimalsOf(network, order.asset);
  const deriveAddress = addresses[order.mode];
  if (network === undefined || decimals === null || deriveAddress === null) {
    return { kind: 'refused', reason: 'asset_not_supported' };
  }
  if (unitsOf(order.amount, decimals) === null) {
    return { kind: 'refused', reason: 'amount_not_representable' };
  }
  if ((await findPlace(db, network.chainId)) === null) {
    return { kind: 'refused', reason: 'network_not_ready' };
  }
  const addressIndex = await nextAddressIndex(db, order.mode);
  if (addressIndex > ADDRESS_INDEX_MAX) throw new Error('all addresses of the key are used');
  const isNew = await insertCheckout(db, {
    ...order,
    merchantName: order.merchantName ?? null,
    merchantLogoUrl: order.merchantLogoUrl ?? null,
    id: randomBytes(16).toString('hex'),
    chainId: network.chainId,
    decimals,
    address: deriveAddress(addressIndex).toLowerCase(),
    addressIndex,
  });
  const facts = await findCheckout(db, order.mode, order.reference);
  if (facts === null) throw new Error(`the checkout of ${order.reference} was not stored`);
  return isNew ? { kind: 'checkout', facts, isNew } : repeated(facts, order);
}

/** Null when the network does not take deposits of the asset. */
export function decimalsOf(network: Network, asset: string): number | null {
  if (network.native.asset === asset) return NATIVE_DECIMALS;
  return network.tokens.find((token) => token.asset === asset)?.decimals ?? null;
}

/** The time limit and the description may differ: those of the first order are kept. */
function repeated(facts: CheckoutFacts, order: CheckoutOrder): Opening {
  const { checkout } = facts;
  const isSame =
    checkout.amount === order.amount &&
    checkout.asset === order.asset &&
    checkout.network === order.network &&
    checkout.successUrl === order.successUrl &&
    checkout.cancelUrl === order.cancelUrl;
  return isSame
    ? { kind: 'checkout', facts, isNew: false }
    : { kind: 'refused', reason: 'client_reference_conflict' };
}

type StepRefusal = 'not_on_hold';

export type StepOutcome =
  { kind: 'checkout'; facts: CheckoutFacts } | { kind: 'refused'; reason: StepRefusal };

type Change = 'changed' | 'unchanged' | StepRefusal;

export async function takeStep(
  { db, pageUrl }: CheckoutParts,
  id: string,
  step: CheckoutStep,
): Promise<StepOutcome> {
  const refusal = await db.transaction(async (tx) => {
    const facts = await lockCheckout(tx, id);
    const result =
      step.do === 'cancel' ? await cancel(tx, facts) : await decideHold(tx, facts, step.do);
    if (result === 'changed') await announceCheckouts(tx, [id], pageUrl);
    return result === 'changed' || result === 'unchanged' ? null : result;
  });
  if (refusal !== null) return { kind: 'refused', reason: refusal };
  const facts = await findCheckoutById(db, id);
  if (facts === null) throw new Error(`the checkout ${id} does not exist`);
  return { kind: 'checkout', facts };
}

/** The address still receives, and what arrives is still listed. */
async function cancel(tx: Tx, facts: CheckoutFacts): Promise<Change> {
  const { id, state } = facts.checkout;
  if (state !== 'open' || arrivedAmount(facts) !== ZERO) return 'unchanged';
  await tx.query(`UPDATE wallet.checkout SET state = 'cancelled' WHERE id = $1`, [id]);
  return 'changed';
}

/** Repeating a decision changes nothing; the opposite one is refused. */
async function decideHold(
  tx: Tx,
  facts: CheckoutFacts,
  decision: 'release' | 'reject',
): Promise<Change> {
  const { id, isHeld, holdDecision } = facts.checkout;
  const decided = decision === 'release' ? 'released' : 'rejected';
  if (!isHeld) return holdDecision === decided ? 'unchanged' : 'not_on_hold';
  await tx.query('UPDATE wallet.checkout SET is_held = false, hold_decision = $2 WHERE id = $1', [
    id,
    decided,
  ]);
  // One decision is about everything that was held by then.
  await tx.query(
    `UPDATE wallet.deposit SET screening = 'clear' WHERE checkout_id = $1 AND screening = 'held'`,
    [id],
  );
  if (decision === 'reject') await sendBackRejected(tx, await lockCheckout(tx, id));
  return 'changed';
}

/**
 * After a rejection: everything final goes back once it is known where to; a checkout that holds no
 * money has failed. Runs again with each deposit that becomes final or vanishes.
 * @returns whether it changed something
 */
export async function sendBackRejected(tx: Tx, facts: CheckoutFacts): Promise<boolean> {
  const { id, state, holdDecision } = facts.checkout;
  if (holdDecision !== 'rejected') return false;
  const rest = refundableAmount(facts);
  if (isLess(ZERO, rest)) {
    await insertRefund(tx, facts, rest);
    return true;
  }
  const isEmpty = confirmedAmount(facts) === ZERO && arrivedAmount(facts) === ZERO;
  if (!isEmpty || state === 'failed') return false;
  await tx.query(`UPDATE wallet.checkout SET state = 'failed' WHERE id = $1`, [id]);
  return true;
}

/** Waits for an address unless an operator has named one. The sender of a deposit is never one. */
async function insertRefund(tx: Tx, { checkout }: CheckoutFacts, amount: Amount): Promise<void> {
  const id = `orf_${randomBytes(12).toString('hex')}`;
  await tx.query(
    `INSERT INTO wallet.refund (id, checkout_id, refund_reference, amount, state)
     VALUES ($1, $2, $3, $4, 'needs_address')`,
    [id, checkout.id, id, amount],
  );
  if (checkout.refundAddress !== null) await sendWaiting(tx, checkout.id, checkout.refundAddress);
}

/** An operator says where what was rejected goes. @returns false when nothing waits for an address */
export async function nameRefundAddress(
  { db, pageUrl }: Pick<CheckoutParts, 'db' | 'pageUrl'>,
  id: string,
  { address, by, reason }: { address: Address; by: string; reason: string },
): Promise<boolean> {
  const to = address.toLowerCase();
  return db.transaction(async (tx) => {
    const { checkout, refunds } = await lockCheckout(tx, id);
    if (!refunds.some(({ state }) => state === 'needs_address')) return false;
    await recordDecision(tx, {
      ...{ kind: 'refund_address', chainId: checkout.chainId, address: to },
      ...{ subject: checkout.reference, by, reason },
    });
    await tx.query('UPDATE wallet.checkout SET refund_address = $2 WHERE id = $1', [id, to]);
    await sendWaiting(tx, id, to);
    await announceCheckouts(tx, [id], pageUrl);
    return true;
  });
}

/** The transfer's reference is new each time, so one that failed is never confused with the next. */
async function sendWaiting(tx: Tx, checkoutId: string, address: string): Promise<void> {
  await tx.query(
    `UPDATE wallet.refund
     SET state = 'sending', address = $2,
       transfer_reference = id || '_' || substr(md5(random()::text), 1, 6)
     WHERE checkout_id = $1 AND state = 'needs_address'`,
    [checkoutId, address],
  );
}

/** Where the browser of a waiting customer goes; null while it waits. */
export function nextUrl(facts: CheckoutFacts): string | null {
  const { state, successUrl, cancelUrl } = facts.checkout;
  if (isPaid(facts) && !facts.checkout.isHeld) return successUrl;
  return state === 'cancelled' ? cancelUrl : null;
}
