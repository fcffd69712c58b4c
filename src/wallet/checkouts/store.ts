/** Reads and writes checkouts. What the follower finds is written by deposits.ts. */
import { amount as toStoredAmount } from '../../domain/money';
import type { Database, Db, Tx } from '../db/database';
import { presentCheckout } from '../../onchain-api/present';
import type { ChangesQuery } from '../../onchain-api/requests';
import { storeCallback } from '../http/callbacks';
import type { WalletMode } from '../networks';
import type { Bundle, Checkout, CheckoutFacts, Deposit, Refund } from './checkout';
import { viewCheckout } from './view';

interface CheckoutRow {
  id: string;
  mode: WalletMode;
  client_reference: string;
  network: string;
  chain_id: string;
  asset: string;
  decimals: number;
  amount: string;
  address: string;
  address_index: string;
  state: Checkout['state'];
  is_held: boolean;
  hold_decision: Checkout['holdDecision'];
  description: string | null;
  success_url: string | null;
  cancel_url: string | null;
  expires_at: Date;
  refund_address: string | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

function readCheckout(row: CheckoutRow): Checkout {
  return {
    id: row.id,
    mode: row.mode,
    reference: row.client_reference,
    network: row.network,
    chainId: Number(row.chain_id),
    asset: row.asset,
    decimals: row.decimals,
    amount: toStoredAmount(row.amount),
    address: row.address,
    addressIndex: Number(row.address_index),
    state: row.state,
    isHeld: row.is_held,
    holdDecision: row.hold_decision,
    description: row.description,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    expiresAt: row.expires_at,
    refundAddress: row.refund_address,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

interface DepositRow {
  id: string;
  checkout_id: string;
  chain_id: string;
  asset: string;
  units: string;
  amount: string;
  tx_hash: string | null;
  sender: string | null;
  block_number: string;
  seen_at: Date;
  state: Deposit['state'];
  final_at: Date | null;
  screening: Deposit['screening'];
  is_expected: boolean;
  is_listed: boolean;
  bundle_id: string | null;
}

function readDeposit(row: DepositRow): Deposit {
  return {
    id: row.id,
    chainId: Number(row.chain_id),
    asset: row.asset,
    units: BigInt(row.units),
    amount: toStoredAmount(row.amount),
    txHash: row.tx_hash,
    sender: row.sender,
    blockNumber: Number(row.block_number),
    seenAt: row.seen_at,
    state: row.state,
    finalAt: row.final_at,
    screening: row.screening,
    isExpected: row.is_expected,
    isListed: row.is_listed,
    bundleId: row.bundle_id,
  };
}

interface RefundRow {
  id: string;
  checkout_id: string;
  refund_reference: string;
  amount: string;
  state: Refund['state'];
  address: string | null;
  transfer_reference: string | null;
  tx_hash: string | null;
  refunded_at: Date | null;
}

function readRefund(row: RefundRow): Refund {
  return {
    id: row.id,
    reference: row.refund_reference,
    amount: toStoredAmount(row.amount),
    state: row.state,
    address: row.address,
    transferReference: row.transfer_reference,
    txHash: row.tx_hash,
    refundedAt: row.refunded_at,
  };
}

interface BundleRow {
  id: string;
  checkout_id: string;
  amount: string;
  seen_at: Date;
  final_at: Date;
}

function readBundle(row: BundleRow): Bundle {
  return {
    id: row.id,
    amount: toStoredAmount(row.amount),
    seenAt: row.seen_at,
    finalAt: row.final_at,
  };
}

/** The checkouts with everything that belongs to them, in the given order. */
async function withFacts(db: Db, rows: readonly CheckoutRow[]): Promise<CheckoutFacts[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const read = <Row extends { checkout_id: string }>(sql: string): Promise<Row[]> =>
    db.query<Row>(sql, [ids]);
  // One after the other: in a transaction all use the same connection.
  const deposits = await read<DepositRow>(
    `SELECT * FROM wallet.deposit WHERE checkout_id = ANY ($1) ORDER BY block_number, id`,
  );
  const bundles = await read<BundleRow>(
    `SELECT * FROM wallet.deposit_bundle WHERE checkout_id = ANY ($1) ORDER BY final_at, id`,
  );
  const refunds = await read<RefundRow>(
    `SELECT * FROM wallet.refund WHERE checkout_id = ANY ($1) ORDER BY created_at, id`,
  );
  return rows.map((row) => {
    const isIts = ({ checkout_id }: { checkout_id: string }): boolean => checkout_id === row.id;
    return {
      checkout: readCheckout(row),
      deposits: deposits.filter(isIts).map(readDeposit),
      bundles: bundles.filter(isIts).map(readBundle),
      refunds: refunds.filter(isIts).map(readRefund),
    };
  });
}

export async function findCheckout(
  db: Db,
  mode: WalletMode,
  reference: string,
): Promise<CheckoutFacts | null> {
  const rows = await db.query<CheckoutRow>(
    'SELECT * FROM wallet.checkout WHERE mode = $1 AND client_reference = $2',
    [mode, reference],
  );
  return (await withFacts(db, rows))[0] ?? null;
}

export async function findCheckoutById(db: Db, id: string): Promise<CheckoutFacts | null> {
  const rows = await db.query<CheckoutRow>('SELECT * FROM wallet.checkout WHERE id = $1', [id]);
  return (await withFacts(db, rows))[0] ?? null;
}

/** Every change of a checkout begins with this lock, so changes come one after the other. */
export async function lockCheckout(tx: Tx, id: string): Promise<CheckoutFacts> {
  const rows = await tx.query<CheckoutRow>(
    'SELECT * FROM wallet.checkout WHERE id = $1 FOR UPDATE',
    [id],
  );
  const [facts] = await withFacts(tx, rows);
  if (facts === undefined) throw new Error(`the checkout ${id} does not exist`);
  return facts;
}

/** The oldest change first, one more than the limit when there is another page. */
export async function listCheckouts(
  db: Database,
  mode: WalletMode,
  { from, after, limit }: ChangesQuery,
): Promise<CheckoutFacts[]> {
  return db.transaction(async (tx) => {
    // Waits for changes that are not committed yet. Later ones have a later time, so a reader that
    // goes on from the last entry misses none.
    await tx.query('LOCK TABLE wallet.checkout IN SHARE MODE');
    const rows = await tx.query<CheckoutRow>(
      `SELECT * FROM wallet.checkout
       WHERE mode = $1 AND updated_at >= coalesce($2, '-infinity'::timestamptz)
         AND ($3::timestamptz IS NULL OR (updated_at, id) > ($3, $4::text))
       ORDER BY updated_at, id LIMIT $5`,
      [mode, from, after?.updatedAt ?? null, after?.id ?? null, limit + 1],
    );
    return withFacts(tx, rows);
  });
}

export type NewCheckout = Omit<
  Checkout,
  'state' | 'isHeld' | 'holdDecision' | 'refundAddress' | 'version' | 'createdAt' | 'updatedAt'
>;

/** False when the reference is taken. */
export async function insertCheckout(db: Db, one: NewCheckout): Promise<boolean> {
  const inserted = await db.query(
    `INSERT INTO wallet.checkout (id, mode, client_reference, network, chain_id, asset, decimals,
       amount, address, address_index, description, success_url, cancel_url, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     ON CONFLICT (mode, client_reference) DO NOTHING RETURNING id`,
    [
      one.id,
      one.mode,
      one.reference,
      one.network,
      one.chainId,
      one.asset,
      one.decimals,
      one.amount,
      one.address,
      one.addressIndex,
      one.description,
      one.successUrl,
      one.cancelUrl,
      one.expiresAt,
    ],
  );
  return inserted.length === 1;
}

export async function nextAddressIndex(db: Db, mode: WalletMode): Promise<number> {
  const [row] = await db.query<{ index: string }>('SELECT nextval($1::regclass) AS index', [
    `wallet.address_index_${mode}_evm`,
  ]);
  return Number(row?.index);
}

/** Where a checkout's hosted page is. */
export type PageUrl = (checkoutId: string) => string;

/**
 * Counts a change of checkouts and writes the callbacks that tell of it, in the same transaction.
 * The callers hold the locks.
 */
export async function announceCheckouts(
  tx: Tx,
  ids: readonly string[],
  pageUrl: PageUrl,
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx.query<CheckoutRow>(
    `UPDATE wallet.checkout SET version = version + 1, updated_at = clock_timestamp()
     WHERE id = ANY ($1) RETURNING *`,
    [ids],
  );
  for (const facts of await withFacts(tx, rows)) {
    const { id, mode, version } = facts.checkout;
    await storeCallback(tx, mode, {
      id: `oev_${id}_${String(version)}`,
      type: 'checkout.updated',
      data: presentCheckout(viewCheckout(facts, pageUrl(id))),
    });
  }
}
