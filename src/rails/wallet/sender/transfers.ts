/**
 * Transfers: what the gateway ordered, and what became of it. One client reference is one transfer
 * for ever; a refused order is stored too, so that a late repetition of it is refused again.
 */
import { type Address, getAddress, isAddress, zeroAddress } from 'viem';
import { monotonicFactory } from 'ulid';
import { amount } from '../../../domain/money';
import { presentTransfer, type TransferView } from '../../onchain-api/present';
import type { ChangesQuery, TransferOrder as ProviderOrder } from '../../onchain-api/requests';
import type { Database, Db, Tx } from '../db/database';
import { storeCallback } from '../http/callbacks';
import type { Network, WalletMode } from '../networks';
import { NATIVE_DECIMALS, unitsOf } from '../units';

const nextUlid = monotonicFactory();

export interface TransferOrder extends ProviderOrder {
  /**
   * A refund is the wallet's own order: the gateway is told of it by its checkout. Funding is what a
   * deposit address needs for the network fee of its sweep.
   */
  purpose?: 'payout' | 'refund' | 'funding';
}

/** Shown to the gateway: queued and sending are one state to it, refused and failed another. */
export type TransferStatus = 'queued' | 'sending' | 'confirmed' | 'failed' | 'refused';

/** Each is definite: nothing was and will be sent. */
const REFUSALS = [
  'asset_not_supported',
  'destination_invalid',
  'destination_refused',
  'amount_not_representable',
] as const;
type RefusalCode = (typeof REFUSALS)[number];

export type FailureCode =
  /** The recipient's or the token's contract refuses the transfer. */
  | 'destination_unreachable'
  /** Mined with success, but nothing was transferred. */
  | 'not_transferred';

export interface Transfer extends TransferOrder {
  id: string;
  chainId: string | null;
  status: TransferStatus;
  failureCode: string | null;
  txHash: string | null;
  waitingFor: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export type Submission =
  | { kind: 'accepted'; transfer: Transfer; isNew: boolean }
  | { kind: 'refused'; code: RefusalCode }
  | { kind: 'conflict' };

export interface OrderRules {
  networks: readonly Network[];
  /** The wallet's own addresses and the denylist. */
  isRefused: (network: Network, destination: Address) => Promise<boolean>;
}

export async function submitTransfer(
  db: Database,
  rules: OrderRules,
  order: TransferOrder,
): Promise<Submission> {
  const known = await findTransfer(db, order.mode, order.reference);
  if (known !== null) return repeat(known, order);
  const checked = await checkOrder(rules, order);
  const stored = await storeOrder(db, order, checked);
  if (stored === null) {
    // Somebody else stored this reference in between.
    const other = await findTransfer(db, order.mode, order.reference);
    return other === null ? { kind: 'conflict' } : repeat(other, order);
  }
  if (typeof checked === 'string') return { kind: 'refused', code: checked };
  return { kind: 'accepted', transfer: stored, isNew: true };
}

/**
 * An order that was paid before the database went back. It is checked as it was then: whether the wallet
 * would send to this address today does not matter.
 */
export async function recordPaidOrder(
  tx: Tx,
  networks: readonly Network[],
  order: TransferOrder,
): Promise<Submission> {
  const anyDestination: OrderRules = { networks, isRefused: () => Promise.resolve(false) };
  const checked = await checkOrder(anyDestination, order);
  if (typeof checked === 'string') return { kind: 'refused', code: checked };
  const stored = await storeOrder(tx, order, checked);
  if (stored !== null) return { kind: 'accepted', transfer: stored, isNew: true };
  const known = await findTransfer(tx, order.mode, order.reference);
  return known === null ? { kind: 'conflict' } : repeat(known, order);
}

/** @returns null when the reference is taken */
async function storeOrder(
  db: Db,
  order: TransferOrder,
  checked: CheckedOrder,
): Promise<Transfer | null> {
  const [stored] = await db.query<TransferRow>(
    `INSERT INTO wallet.transfer (id, mode, client_reference, asset, network, amount, destination,
       memo, purpose, chain_id, units, status, failure_code)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT (mode, client_reference) DO NOTHING RETURNING ${COLUMNS}`,
    [
      `otr_${nextUlid()}`,
      order.mode,
      order.reference,
      order.asset,
      order.network,
      order.amount,
      writeDestination(order.destination),
      order.memo,
      order.purpose ?? 'payout',
      ...(typeof checked === 'string'
        ? [null, null, 'refused', checked]
        : [checked.chainId, checked.units, 'queued', null]),
    ],
  );
  return stored === undefined ? null : readRow(stored);
}

function repeat(known: Transfer, order: TransferOrder): Submission {
  const isSame =
    known.asset === order.asset &&
    known.network === order.network &&
    known.amount === order.amount &&
    known.destination === writeDestination(order.destination) &&
    known.memo === order.memo;
  if (!isSame) return { kind: 'conflict' };
  if (known.status !== 'refused') return { kind: 'accepted', transfer: known, isNew: false };
  const code = REFUSALS.find((one) => one === known.failureCode);
  return { kind: 'refused', code: code ?? 'destination_refused' };
}

/** In upper or lower case alone, an address has no checksum (EIP-55). */
function readDestination(text: string): Address | null {
  const plain = /^0x[0-9A-F]{40}$/.test(text) ? text.toLowerCase() : text;
  return isAddress(plain) ? getAddress(plain) : null;
}

function writeDestination(text: string): string {
  return readDestination(text) ?? text;
}

type CheckedOrder = RefusalCode | { chainId: number; units: string };

async function checkOrder(
  { networks, isRefused }: OrderRules,
  order: TransferOrder,
): Promise<CheckedOrder> {
  const network = networks.find(({ mode, name }) => mode === order.mode && name === order.network);
  const decimals = network === undefined ? null : sendableDecimals(network, order.asset);
  if (network === undefined || decimals === null) return 'asset_not_supported';
  const destination = readDestination(order.destination);
  if (destination === null || order.memo !== null) return 'destination_invalid';
  if (await isRefused(network, destination)) return 'destination_refused';
  const units = unitsOf(order.amount, decimals);
  if (units === null) return 'amount_not_representable';
  return { chainId: network.chainId, units: units.toString() };
}

/** Null when the network does not send the asset: it has no limits in the configuration. */
export function sendableDecimals(network: Network, asset: string): number | null {
  if (network.payouts?.limits[asset] === undefined) return null;
  if (asset === network.native.asset) return NATIVE_DECIMALS;
  return network.tokens.find((token) => token.asset === asset)?.decimals ?? null;
}

/** Addresses that lose what is sent to them. */
export function isLostAddress(network: Network, destination: Address): boolean {
  return (
    destination === zeroAddress || network.tokens.some(({ address }) => address === destination)
  );
}

const COLUMNS = `id, mode, client_reference AS reference, asset, network, amount::text, destination,
  memo, purpose, chain_id AS "chainId", status, failure_code AS "failureCode", tx_hash AS "txHash",
  waiting_for AS "waitingFor", created_at AS "createdAt", updated_at AS "updatedAt"`;

type TransferRow = Omit<Transfer, 'amount'> & { amount: string };

function readRow(row: TransferRow): Transfer {
  return { ...row, amount: amount(row.amount) };
}

export async function findTransfer(
  db: Db,
  mode: WalletMode,
  reference: string,
): Promise<Transfer | null> {
  const [row] = await db.query<TransferRow>(
    `SELECT ${COLUMNS} FROM wallet.transfer WHERE mode = $1 AND client_reference = $2`,
    [mode, reference],
  );
  return row === undefined ? null : readRow(row);
}

/** The oldest change first, one more than the limit when there is another page. */
export async function listTransfers(
  db: Database,
  mode: WalletMode,
  { from, after, limit }: ChangesQuery,
): Promise<Transfer[]> {
  return db.transaction(async (tx) => {
    // Waits for changes that are not committed yet. Later ones have a later time, so a reader that
    // goes on from the last entry misses none.
    await tx.query('LOCK TABLE wallet.transfer IN SHARE MODE');
    const found = await tx.query<TransferRow>(
      `SELECT ${COLUMNS} FROM wallet.transfer
       WHERE mode = $1 AND purpose = 'payout'
         AND ($2::timestamptz IS NULL OR updated_at >= $2)
         AND ($3::timestamptz IS NULL OR (updated_at, id) > ($3, $4))
       ORDER BY updated_at, id LIMIT $5`,
      [mode, from, after?.updatedAt ?? null, after?.id ?? '', limit + 1],
    );
    return found.map(readRow);
  });
}

export interface Outcome {
  transferId: string;
  status: 'confirmed' | 'failed';
  failureCode: FailureCode | null;
  txHash: string | null;
}

/** Guarded: only a transfer that has no outcome gets one. */
export async function finishTransfer(
  tx: Tx,
  { transferId, status, failureCode, txHash }: Outcome,
): Promise<void> {
  const [row] = await tx.query<TransferRow>(
    `UPDATE wallet.transfer
     SET status = $2, failure_code = $3, tx_hash = coalesce($4, tx_hash), waiting_for = NULL,
       waiting_since = NULL, waiting_detail = NULL, updated_at = clock_timestamp()
     WHERE id = $1 AND status IN ('queued', 'sending') RETURNING ${COLUMNS}`,
    [transferId, status, failureCode, txHash],
  );
  if (row === undefined) return;
  const transfer = readRow(row);
  if (transfer.purpose !== 'payout') return;
  const id = `oev_${transfer.id.slice('otr_'.length)}_${status}`;
  const data = presentTransfer(viewTransfer(transfer));
  await storeCallback(tx, transfer.mode, { id, type: 'transfer.updated', data });
}

const WIRE_STATUS = {
  queued: 'queued',
  sending: 'queued',
  confirmed: 'confirmed',
  failed: 'failed',
  refused: 'failed',
} as const satisfies Record<TransferStatus, string>;

export function viewTransfer(transfer: Transfer): TransferView {
  return {
    ...transfer,
    status: WIRE_STATUS[transfer.status],
    // Before its end, the hash is of a transaction that was reverted, or that a person must judge.
    txHash: ['queued', 'sending'].includes(transfer.status) ? null : transfer.txHash,
  };
}
