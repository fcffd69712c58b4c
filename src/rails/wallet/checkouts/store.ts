/** Reads and writes checkouts. What the follower finds is written by deposits.ts. */
import { type Amount, amount as toStoredAmount } from '../../../domain/money';
import type { Database, Db, Tx } from '../db/database';
import { presentCheckout } from '../../onchain-api/present';
import type { ChangesQuery } from '../../onchain-api/requests';
import { storeCallback } from '../http/callbacks';
import type { WalletMode } from '../networks';
import type { Bundle, Checkout, CheckoutFacts, Deposit, Refund } from './checkout';
import { viewCheckout } from './view';

/** A row as PostgreSQL gives it: amounts and numbers of 64 bits are text. */
type Row<Entity, Texts extends keyof Entity> = Omit<Entity, Texts> & Record<Texts, string>;
interface OfCheckout {
  checkoutId: string;
}

type CheckoutRow = Row<Checkout, 'chainId' | 'amount' | 'addressIndex'>;
const CHECKOUT_COLUMNS = `id, mode, client_reference AS reference, network, chain_id AS "chainId", asset,
  decimals, amount, address, address_index AS "addressIndex", state, is_held AS "isHeld",
  hold_decision AS "holdDecision", description, merchant_name AS "merchantName",
  merchant_logo_url AS "merchantLogoUrl", success_url AS "successUrl",
  cancel_url AS "cancelUrl", expires_at AS "expiresAt", refund_address AS "refundAddress", version,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

function readCheckout(row: CheckoutRow): Checkout {
  return {
    ...row,
    chainId: Number(row.chainId),
    amount: toStoredAmount(row.amount),
    addressIndex: Number(row.addressIndex),
  };
}

type DepositRow = Row<Deposit, 'chainId' | 'units' | 'amount' | 'blockNumber'> & OfCheckout;
const DEPOSIT_COLUMNS = `id, checkout_id AS "checkoutId", chain_id AS "chainId", asset, units, amount,
  tx_hash AS "txHash", sender, block_number AS "blockNumber", seen_at AS "seenAt", state,
  final_at AS "finalAt", screening, is_expected AS "isExpected", is_listed AS "isListed",
  bundle_id AS "bundleId", agreed_at IS NOT NULL AS "isAgreed"`;

function readDeposit(row: DepositRow): Deposit {
  return {
    ...row,
    chainId: Number(row.chainId),
    units: BigInt(row.units),
    amount: toStoredAmount(row.amount),
    blockNumber: Number(row.blockNumber),
  };
}

type BundleRow = Row<Bundle, 'amount'> & OfCheckout;
const BUNDLE_COLUMNS =
  'id, checkout_id AS "checkoutId", amount, seen_at AS "seenAt", final_at AS "finalAt"';

type RefundRow = Row<Refund, 'amount'> & OfCheckout;
const REFUND_COLUMNS = `id, checkout_id AS "checkoutId", refund_reference AS reference, amount, state,
  address, transfer_reference AS "transferReference", tx_hash AS "txHash",
  refunded_at AS "refundedAt"`;

function withAmount<Stored extends { amount: string }>(row: Stored): Stored & { amount: Amount } {
  return { ...row, amount: toStoredAmount(row.amount) };
}

/** The checkouts with everything that belongs to them, in the given order. */
async function withFacts(db: Db, rows: readonly CheckoutRow[]): Promise<CheckoutFacts[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const read = <Found extends OfCheckout>(sql: string): Promise<Found[]> =>
    db.query<Found>(sql, [ids]);
  // One after the other: in a transaction all use the same connection.
  const deposits = await read<DepositRow>(
    `SELECT ${DEPOSIT_COLUMNS} FROM wallet.deposit WHERE checkout_id = ANY ($1) ORDER BY block_number, id`,
  );
  const bundles = await read<BundleRow>(
    `SELECT ${BUNDLE_COLUMNS} FROM wallet.deposit_bundle WHERE checkout_id = ANY ($1) ORDER BY final_at, id`,
  );
  const refunds = await read<RefundRow>(
    `SELECT ${REFUND_COLUMNS} FROM wallet.refund WHERE checkout_id = ANY ($1) ORDER BY created_at, id`,
  );
  return rows.map((row) => {
    const isIts = ({ checkoutId }: OfCheckout): boolean => checkoutId === row.id;
    return {
      checkout: readCheckout(row),
      deposits: deposits.filter(isIts).map(readDeposit),
      bundles: bundles.filter(isIts).map(withAmount),
      refunds: refunds.filter(isIts).map(withAmount),
    };
  });
}

export async function findCheckout(
  db: Db,
  mode: WalletMode,
  reference: string,
): Promise<CheckoutFacts | null> {
  const rows = await db.query<CheckoutRow>(
    `SELECT ${CHECKOUT_COLUMNS} FROM wallet.checkout WHERE mode = $1 AND client_reference = $2`,
    [mode, reference],
  );
  return (await withFacts(db, rows))[0] ?? null;
}

export async function findCheckoutById(db: Db, id: string): Promise<CheckoutFacts | null> {
  const rows = await db.query<CheckoutRow>(
    `SELECT ${CHECKOUT_COLUMNS} FROM wallet.checkout WHERE id = $1`,
    [id],
  );
  return (await withFacts(db, rows))[0] ?? null;
}

/** Every change of a checkout begins with this lock, so changes come one after the other. */
export async function lockCheckout(tx: Tx, id: string): Promise<CheckoutFacts> {
  const rows = await tx.query<CheckoutRow>(
    `SELECT ${CHECKOUT_COLUMNS} FROM wallet.checkout WHERE id = $1 FOR UPDATE`,
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
      `SELECT ${CHECKOUT_COLUMNS} FROM wallet.checkout
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
       amount, address, address_index, description, merchant_name, merchant_logo_url,
       success_url, cancel_url, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
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
      one.merchantName,
      one.merchantLogoUrl,
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

/** The address of a checkout's hosted page. */
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
     WHERE id = ANY ($1) RETURNING ${CHECKOUT_COLUMNS}`,
    [ids],
  );
  for (const facts of await withFacts(tx, rows)) {
    const { id, mode, version } = facts.checkout;
    await storeCallback(tx, mode, {
      id: `oev_${id}_${version}`,
      type: 'checkout.updated',
      data: presentCheckout(viewCheckout(facts, pageUrl(id))),
    });
  }
}
