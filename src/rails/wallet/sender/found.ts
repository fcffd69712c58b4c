/**
 * Final transactions of the signer that the record does not have, as rows of wallet.found_transaction. One
 * that pays a transfer exactly becomes that transfer's attempt: it is adopted. The others stay open,
 * and the chain stays stopped, until an order explains them or an operator decides.
 */
import { type Address, getAddress } from 'viem';
import type { Chain } from '../chain/chain';
import { TRANSFER_CALL } from '../chain/erc20';
import type { Db, Tx } from '../db/database';
import { readRow, type Row } from '../db/rows';
import { hasMark } from './fingerprint';
import type { SeenTransaction } from './lookup';
import { transactionOf } from './transaction';
import type { Payment, SignerKey } from './slots';

/** A transaction as a transfer that it pays. */
export interface PaidTransfer {
  asset: string;
  recipient: Address;
  units: bigint;
}

const TRANSFER_LENGTH = TRANSFER_CALL.length + 2 * 64;
const WORD_OF_ADDRESS = /^0{24}[0-9a-f]{40}$/;

/** @returns null for anything that the wallet would not make, or that the signer has not signed */
function readPayment({ network }: Chain, one: SeenTransaction): PaidTransfer | null {
  if (one.to === null || one.raw === null) return null;
  if (one.data === '0x') {
    return { asset: network.native.asset, recipient: getAddress(one.to), units: one.valueWei };
  }
  const to = one.to.toLowerCase();
  const token = network.tokens.find(({ address }) => address.toLowerCase() === to);
  if (token === undefined || one.valueWei !== 0n) return null;
  if (!one.data.startsWith(TRANSFER_CALL) || one.data.length !== TRANSFER_LENGTH) return null;
  const recipient = one.data.slice(TRANSFER_CALL.length, TRANSFER_CALL.length + 64).toLowerCase();
  if (!WORD_OF_ADDRESS.test(recipient)) return null;
  const units = BigInt(`0x${one.data.slice(TRANSFER_CALL.length + 64)}`);
  return { asset: token.asset, recipient: getAddress(`0x${recipient.slice(24)}`), units };
}

/** Whether the transaction pays exactly this, with the mark of its reference. */
export function isPaymentOf(
  chain: Chain,
  seen: SeenTransaction,
  { asset, units, recipient, reference }: PaidTransfer & { reference: string },
): boolean {
  const payment = readPayment(chain, seen);
  return (
    payment !== null &&
    payment.asset === asset &&
    payment.units === units &&
    payment.recipient.toLowerCase() === recipient.toLowerCase() &&
    hasMark(seen, reference)
  );
}

export interface FoundTransaction extends Omit<SeenTransaction, 'to' | 'data' | 'valueWei'> {
  payment: PaidTransfer | null;
}

/** A nonce has one row: another transaction of it was not the one that the chain has. */
export async function storeFound(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  seen: readonly SeenTransaction[],
  { isRestoring }: { isRestoring: boolean },
): Promise<void> {
  for (const one of seen) {
    const payment = readPayment(chain, one);
    // As an earlier restore has sent: it has paid nobody. With data it is the fence of another database, which may work.
    const isToItself = one.valueWei === 0n && one.to?.toLowerCase() === key.signer;
    const isEmpty = isToItself && one.raw !== null && (one.data === '0x' || isRestoring);
    await tx.query(
      `INSERT INTO wallet.found_transaction AS known (chain_id, signer, nonce, hash, asset, recipient,
         units, gas, max_fee_per_gas, max_priority_fee_per_gas, raw, state)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       ON CONFLICT (chain_id, signer, nonce) DO UPDATE
         SET hash = excluded.hash, asset = excluded.asset, recipient = excluded.recipient,
           units = excluded.units, gas = excluded.gas, max_fee_per_gas = excluded.max_fee_per_gas,
           max_priority_fee_per_gas = excluded.max_priority_fee_per_gas, raw = excluded.raw,
           state = excluded.state, transfer_id = NULL
         WHERE known.state IN ('open', 'adopted') AND known.hash <> excluded.hash`,
      [
        ...[key.chainId, key.signer, one.nonce, one.hash, payment?.asset ?? null],
        payment?.recipient ?? (isToItself ? key.signer : null),
        payment?.units ?? (isToItself ? 0n : null),
        ...[one.gas, one.maxFeePerGas, one.maxPriorityFeePerGas, one.raw],
        isEmpty ? 'foreign' : 'open',
      ],
    );
  }
}

interface FoundRow extends Omit<FoundTransaction, 'payment'> {
  signer: string;
  asset: string | null;
  recipient: Address | null;
  units: bigint | null;
}

const FOUND_COLUMNS = `signer, nonce, hash, asset, recipient, units, gas, max_fee_per_gas AS "maxFeePerGas",
  max_priority_fee_per_gas AS "maxPriorityFeePerGas", raw`;

function readFound(row: Row<FoundRow>): FoundTransaction {
  const { asset, recipient, units, ...found } = readRow<FoundRow>(
    row,
    ...(['nonce', 'units', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const),
  );
  const isPayment = asset !== null && recipient !== null && units !== null;
  return { ...found, payment: isPayment ? { asset, recipient, units } : null };
}

export async function listOpenFound(
  db: Db,
  { chainId, signer }: SignerKey,
): Promise<FoundTransaction[]> {
  const rows = await db.query<Row<FoundRow>>(
    `SELECT ${FOUND_COLUMNS} FROM wallet.found_transaction
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' ORDER BY nonce`,
    [chainId, signer],
  );
  return rows.map(readFound);
}

/**
 * One queued transfer with the transaction's mark and no other is certain. Without the mark it may be another order
 * of the same amount to the same address, so a person decides. What a person called foreign is looked at too: the
 * gateway may submit its payout late. The signers of the chain are locked.
 */
export async function adoptMarked(tx: Tx, chain: Chain): Promise<void> {
  const { chainId } = chain.network;
  const rows = await tx.query<Row<FoundRow>>(
    `SELECT ${FOUND_COLUMNS} FROM wallet.found_transaction AS found
     WHERE chain_id = $1 AND state <> 'adopted' AND EXISTS (
       SELECT 1 FROM wallet.transfer WHERE transfer.chain_id = $1 AND status = 'queued'
         AND transfer.asset = found.asset AND transfer.units = found.units
         AND lower(destination) = lower(recipient))
     ORDER BY signer, nonce`,
    [chainId],
  );
  for (const row of rows) {
    const found = readFound(row);
    const candidates = await findCandidates(tx, { chainId }, found);
    const [only, another] = candidates.filter(({ isMarked }) => isMarked);
    if (only === undefined || another !== undefined) continue;
    await adopt(tx, chain, { chainId, signer: row.signer }, found, only.transferId);
  }
}

export interface Candidate {
  transferId: string;
  reference: string;
  /** The transaction has this transfer's mark. */
  isMarked: boolean;
}

/** Queued transfers that the transaction would pay, those with its mark first. */
export async function findCandidates(
  db: Db,
  { chainId }: Pick<SignerKey, 'chainId'>,
  { payment, ...marked }: Pick<FoundTransaction, 'payment' | 'gas' | 'maxFeePerGas'>,
): Promise<Candidate[]> {
  if (payment === null) return [];
  const rows = await db.query<{ id: string; reference: string }>(
    `SELECT id, client_reference AS reference FROM wallet.transfer
     WHERE chain_id = $1 AND status = 'queued' AND asset = $2 AND units = $3
       AND lower(destination) = lower($4) ORDER BY created_at, id`,
    [chainId, payment.asset, payment.units, payment.recipient],
  );
  return rows
    .map(({ id, reference }) => ({
      transferId: id,
      reference,
      isMarked: hasMark(marked, reference),
    }))
    .sort((a, b) => Number(b.isMarked) - Number(a.isMarked));
}

/** The transaction becomes the attempt of the transfer. The signer is locked. */
export async function adopt(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  found: FoundTransaction,
  transferId: string,
): Promise<boolean> {
  const { payment } = found;
  if (payment === null) return false;
  const [taken] = await tx.query(
    `UPDATE wallet.transfer
     SET status = 'sending', waiting_for = NULL, waiting_since = NULL, waiting_detail = NULL
     WHERE id = $1 AND status = 'queued' RETURNING id`,
    [transferId],
  );
  if (taken === undefined) return false;
  const slot = { ...payment, ...transactionOf(chain, payment), transferId, gas: found.gas };
  await storeSlot(tx, key, found, slot);
  await storeAdoptedAttempt(tx, key, found);
  await tx.query(
    `UPDATE wallet.found_transaction SET state = 'adopted', transfer_id = $4
     WHERE chain_id = $1 AND signer = $2 AND hash = $3`,
    [key.chainId, key.signer, found.hash, transferId],
  );
  return true;
}

/** In place of the one that had the nonce, which has ended. */
async function storeSlot(
  tx: Tx,
  { chainId, signer }: SignerKey,
  { nonce, maxFeePerGas, maxPriorityFeePerGas }: FoundTransaction,
  slot: Payment,
): Promise<void> {
  const stored = await tx.query(
    `INSERT INTO wallet.slot (chain_id, signer, nonce, transfer_id, asset, units, recipient, data,
       value_wei, gas, max_fee_per_gas, max_priority_fee_per_gas, is_signed)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, true)
     ON CONFLICT (chain_id, signer, nonce) DO UPDATE
       SET transfer_id = $4, asset = $5, units = $6, recipient = $7, data = $8, value_wei = $9,
         gas = $10, max_fee_per_gas = $11, max_priority_fee_per_gas = $12, is_signed = true,
         state = 'open', freed_at = NULL
       WHERE slot.state = 'foreign' RETURNING nonce`,
    [
      ...[chainId, signer, nonce, slot.transferId, slot.asset, slot.units.toString()],
      ...[slot.recipient, slot.data, slot.valueWei, slot.gas.toString()],
      ...[maxFeePerGas, maxPriorityFeePerGas.toString()],
    ],
  );
  if (stored.length === 0) throw new Error(`nonce ${nonce} has a slot`);
}

export async function storeAdoptedAttempt(
  tx: Db,
  { chainId, signer }: SignerKey,
  one: Pick<SeenTransaction, 'hash' | 'nonce' | 'raw' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO wallet.attempt (chain_id, signer, hash, nonce, raw, max_fee_per_gas,
       max_priority_fee_per_gas)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING`,
    [
      ...[chainId, signer, one.hash, one.nonce],
      ...[one.raw, one.maxFeePerGas, one.maxPriorityFeePerGas],
    ],
  );
}
