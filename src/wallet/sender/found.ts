/**
 * Transactions of the signer that the record does not have, as rows of wallet.found_transaction. One
 * that pays a transfer exactly becomes that transfer's attempt: it is adopted. The others stay open,
 * and the signer stays stopped, until an order explains them or an operator decides.
 */
import { type Address, getAddress, type Hex } from 'viem';
import type { Chain } from '../chain/chain';
import { TRANSFER_CALL } from '../chain/erc20';
import type { Db, Tx } from '../db/database';
import { hasMark } from './fingerprint';
import type { SeenTransaction } from './lookup';
import { transactionOf } from './transaction';
import { insertSlots, type Payment, type SignerKey } from './slots';

/** A transaction as a transfer that it pays. */
export interface PaidTransfer {
  asset: string;
  recipient: Address;
  units: bigint;
}

const TRANSFER_LENGTH = TRANSFER_CALL.length + 2 * 64;
const WORD_OF_ADDRESS = /^0{24}[0-9a-f]{40}$/;

/** @returns null for anything that the wallet would not make, or that the signer has not signed */
export function readPayment({ network }: Chain, one: SeenTransaction): PaidTransfer | null {
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

export interface FoundTransaction extends Omit<SeenTransaction, 'to' | 'data' | 'valueWei'> {
  payment: PaidTransfer | null;
}

/**
 * What is in a pool may be replaced, also after it was adopted: a nonce has one row, the newest that was
 * seen and that the record does not have.
 */
export async function storeFound(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  seen: readonly SeenTransaction[],
): Promise<void> {
  for (const one of seen) {
    const payment = readPayment(chain, one);
    await tx.query(
      `INSERT INTO wallet.found_transaction AS known (chain_id, signer, nonce, hash, asset, recipient,
         units, gas, max_fee_per_gas, max_priority_fee_per_gas, raw)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
       ON CONFLICT (chain_id, signer, nonce) DO UPDATE
         SET hash = excluded.hash, asset = excluded.asset, recipient = excluded.recipient,
           units = excluded.units, gas = excluded.gas, max_fee_per_gas = excluded.max_fee_per_gas,
           max_priority_fee_per_gas = excluded.max_priority_fee_per_gas, raw = excluded.raw,
           state = 'open', transfer_id = NULL
         WHERE known.state IN ('open', 'adopted') AND known.hash <> excluded.hash`,
      [
        key.chainId,
        key.signer,
        one.nonce.toString(),
        one.hash,
        payment?.asset ?? null,
        payment?.recipient ?? null,
        payment?.units.toString() ?? null,
        one.gas.toString(),
        one.maxFeePerGas.toString(),
        one.maxPriorityFeePerGas.toString(),
        one.raw,
      ],
    );
  }
}

/** The nonce is used for good by a transaction of the record, so the other one was never mined. */
export async function dropFound(
  tx: Tx,
  { chainId, signer }: SignerKey,
  nonce: bigint,
): Promise<void> {
  await tx.query(
    `DELETE FROM wallet.found_transaction
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open'`,
    [chainId, signer, nonce.toString()],
  );
}

interface FoundRow {
  nonce: string;
  hash: Hex;
  asset: string | null;
  recipient: Address | null;
  units: string | null;
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  raw: Hex | null;
}

export async function listOpenFound(
  db: Db,
  { chainId, signer }: SignerKey,
): Promise<FoundTransaction[]> {
  const rows = await db.query<FoundRow & Record<string, unknown>>(
    `SELECT nonce, hash, asset, recipient, units, gas, max_fee_per_gas AS "maxFeePerGas",
       max_priority_fee_per_gas AS "maxPriorityFeePerGas", raw
     FROM wallet.found_transaction WHERE chain_id = $1 AND signer = $2 AND state = 'open'
     ORDER BY nonce`,
    [chainId, signer],
  );
  return rows.map((row) => ({
    hash: row.hash,
    nonce: BigInt(row.nonce),
    gas: BigInt(row.gas),
    maxFeePerGas: BigInt(row.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(row.maxPriorityFeePerGas),
    raw: row.raw,
    payment:
      row.asset === null || row.recipient === null || row.units === null
        ? null
        : { asset: row.asset, recipient: row.recipient, units: BigInt(row.units) },
  }));
}

/**
 * SQL about a queued transfer: an unknown transaction of a hot wallet may have paid it. Until that is
 * explained, no hot wallet of the chain sends it.
 */
export const MAY_BE_PAID = `EXISTS (
  SELECT 1 FROM wallet.found_transaction AS found
  WHERE found.chain_id = transfer.chain_id AND found.state = 'open'
    AND found.asset = transfer.asset AND found.units = transfer.units
    AND lower(found.recipient) = lower(transfer.destination))`;

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
    [chainId, payment.asset, payment.units.toString(), payment.recipient],
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
  const { payment, maxFeePerGas, maxPriorityFeePerGas } = found;
  if (payment === null) return false;
  const [taken] = await tx.query(
    `UPDATE wallet.transfer
     SET status = 'sending', waiting_for = NULL, waiting_since = NULL, waiting_detail = NULL
     WHERE id = $1 AND status = 'queued' RETURNING id`,
    [transferId],
  );
  if (taken === undefined) return false;
  const slot = { ...payment, ...transactionOf(chain, payment), transferId, gas: found.gas };
  await requeueHolder(tx, key, found.nonce);
  if (!(await takeOverSlot(tx, key, found, slot))) {
    await insertSlots(tx, key, [found.nonce], [{ ...slot, maxFeePerGas, maxPriorityFeePerGas }]);
    await tx.query(
      `UPDATE wallet.slot SET is_signed = true WHERE chain_id = $1 AND signer = $2 AND nonce = $3`,
      [key.chainId, key.signer, found.nonce.toString()],
    );
  }
  await storeAdoptedAttempt(tx, key, found);
  await tx.query(
    `UPDATE wallet.found_transaction SET state = 'adopted', transfer_id = $4
     WHERE chain_id = $1 AND signer = $2 AND hash = $3`,
    [key.chainId, key.signer, found.hash, transferId],
  );
  return true;
}

/**
 * The nonce had been given to another transfer, and the chain calls the found transaction final: the
 * transactions of that transfer can never be mined, and it is queued again.
 */
export async function requeueHolder(
  tx: Tx,
  { chainId, signer }: SignerKey,
  nonce: bigint,
): Promise<void> {
  await tx.query(
    `WITH ended AS (
       UPDATE wallet.slot SET state = 'foreign'
       WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open' RETURNING transfer_id)
     UPDATE wallet.transfer SET status = 'queued'
     FROM ended WHERE transfer.id = ended.transfer_id AND transfer.status = 'sending'`,
    [chainId, signer, nonce.toString()],
  );
}

/** @returns whether there was a slot with this nonce */
async function takeOverSlot(
  tx: Tx,
  { chainId, signer }: SignerKey,
  found: FoundTransaction,
  slot: Payment,
): Promise<boolean> {
  const taken = await tx.query(
    `UPDATE wallet.slot SET transfer_id = $4, asset = $5, units = $6, recipient = $7, data = $8,
       value_wei = $9, gas = $10, max_fee_per_gas = $11, max_priority_fee_per_gas = $12,
       is_signed = true, state = 'open', freed_at = NULL
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state IN ('open', 'foreign')
     RETURNING nonce`,
    [
      chainId,
      signer,
      found.nonce.toString(),
      slot.transferId,
      slot.asset,
      slot.units.toString(),
      slot.recipient,
      slot.data,
      slot.valueWei.toString(),
      slot.gas.toString(),
      found.maxFeePerGas.toString(),
      found.maxPriorityFeePerGas.toString(),
    ],
  );
  return taken.length > 0;
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
      chainId,
      signer,
      one.hash,
      one.nonce.toString(),
      one.raw,
      one.maxFeePerGas.toString(),
      one.maxPriorityFeePerGas.toString(),
    ],
  );
}
