/**
 * Signs slots, stores the bytes, and only then broadcasts them; raises fees of what is stuck. All of
 * it is safe to repeat: a slot has one nonce, so the chain accepts one of its attempts at most.
 */
import type { Address, Hex } from 'viem';
import { errorText } from '../../../platform/lib/command-line';
import { meaningOfRefusal } from '../chain/broadcast-refusals';
import { findPause } from '../chain/pause';
import type { Db } from '../db/database';
import { toHex } from '../chain/chain';
import { RPC_BATCH_MAX, type RpcAnswer } from '../chain/rpc';
import type { Signer } from '../signer/port';
import { raisedFees } from './fees';
import { markFees, markGas } from './fingerprint';
import type { QueueParts } from './parts';
import {
  type Attempt,
  findNewestAttempts,
  markBroadcast,
  markWaiting,
  raiseSlotFees,
  storeAttempts,
} from './attempts';
import { findOpenSlots, type Slot } from './slots';
import { transactionOf, withGasMargin } from './transaction';
import type { ChainView } from './view';

export interface BroadcastParts extends QueueParts {
  signer: Signer;
  /** Each attempt outside of blocks → the newest block when it was looked at first. */
  lookedAt: Map<Hex, bigint>;
}

/** One transaction stores the bytes of this many slots. */
const SIGNING_BATCH = 100;

/**
 * Signs what has a nonce and no bytes; also what a crash left.
 * @returns how many were signed
 */
export async function signSlots(parts: BroadcastParts): Promise<number> {
  const { db, chain, key, signer, alarms } = parts;
  for (let count = 0; ;) {
    const slots = await findOpenSlots(db, key, { signed: false, limit: SIGNING_BATCH });
    if (slots.length === 0) {
      // What could not be signed has ended otherwise: an earlier transaction of it was mined.
      await alarms.clear('signing_failed', signer.address);
      return count;
    }
    // The pause of the chain is asked immediately before the key is used.
    if ((await findPause(db, key.chainId)) !== null) return count;
    try {
      const signed = await Promise.all(
        slots.map(async (slot) => ({ slot, raw: await sign(parts, slot) })),
      );
      await storeAttempts(db, key, signed);
      await alarms.clear('signing_failed', signer.address);
    } catch (error) {
      const detail = `Payouts on ${chain.network.name} cannot be signed: ${errorText(error)}`;
      await alarms.raise('signing_failed', signer.address, detail);
      throw error;
    }
    count += slots.length;
    if (slots.length < SIGNING_BATCH) return count;
  }
}

/** Signs what asset, recipient and units say, which the limits count, and not stored bytes. */
function sign({ chain, key, signer }: BroadcastParts, slot: Slot): Promise<Hex> {
  // An operator freed the nonce, so nothing is sent, and to the signer itself.
  const { to, data, valueWei } = slot.isFreed
    ? emptyTransaction(signer.address, slot)
    : transactionOf(chain, slot);
  return signer.sign({
    type: 'eip1559',
    chainId: key.chainId,
    nonce: Number(slot.nonce),
    to,
    data,
    value: valueWei,
    // An empty transaction keeps the gas of the payout: what is not used is not paid.
    gas: slot.gas,
    maxFeePerGas: slot.maxFeePerGas,
    maxPriorityFeePerGas: slot.maxPriorityFeePerGas,
  });
}

/** What is of no transfer keeps its data: a fence names the database. */
function emptyTransaction(
  to: Address,
  { transferId, data }: Slot,
): ReturnType<typeof transactionOf> {
  return { to, data: transferId === '' ? data : '0x', valueWei: 0n };
}

/** Sends what is not in a block, the lowest nonce first: stored bytes, never new ones. */
export async function broadcast(parts: QueueParts, view: ChainView): Promise<void> {
  const { db, chain, key, rules } = parts;
  const age = rules.resendAfterMs;
  const newest = await findNewestAttempts(db, key, view.usedNonces, 'broadcast', age);
  // A freed nonce waits for its empty transaction: the transfer's may have failed before.
  const due = newest.filter((one) => !one.isFreed || one.isEmpty);
  let isLimited = false;
  for (let from = 0; from < due.length; from += RPC_BATCH_MAX) {
    const batch = due.slice(from, from + RPC_BATCH_MAX);
    if ((await findPause(db, key.chainId)) !== null) return;
    // Every node is asked, so one that accepts and forgets a transaction, or refuses all, holds up nothing.
    const answers = await chain.rpc.sendToAll<Hex>(
      batch.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [raw] })),
      isAccepted,
    );
    const { accepted, waiting } = await takenOf(parts, view, batch, answers);
    await markBroadcast(db, accepted);
    await markWaiting(db, waiting);
    isLimited ||= waiting.length > 0;
  }
  if (due.length > 0) await noteLimit(parts, isLimited);
}

/** One alarm for the hot wallet, because each of its nonces waits for the same reason. */
async function noteLimit({ key, alarms }: QueueParts, isLimited: boolean): Promise<void> {
  if (!isLimited) return alarms.clear('broadcast_refused', key.signer);
  const text = `Nodes take one transaction at a time of the hot wallet ${key.signer}, because it has delegated itself to a contract (EIP-7702). Its payouts are sent one in each block. End the delegation, or use another hot wallet.`;
  await alarms.raise('broadcast_refused', key.signer, text);
}

function isAccepted(answer: RpcAnswer): boolean {
  return !('refusal' in answer) || meaningOfRefusal(answer.refusal.detail) === 'known';
}

/** Which of the batch nodes have taken, and which have to wait for others of the hot wallet. */
async function takenOf(
  { chain, key, alarms }: QueueParts,
  { usedNonces }: ChainView,
  batch: readonly Attempt[],
  answers: readonly RpcAnswer[],
): Promise<{ accepted: Hex[]; waiting: Hex[] }> {
  const taken = { accepted: [] as Hex[], waiting: [] as Hex[] };
  const native = chain.network.native.asset;
  for (const [index, { hash, nonce }] of batch.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    const subject = `nonce ${nonce} of ${key.signer}`;
    if (!('refusal' in answer) || isAccepted(answer)) {
      taken.accepted.push(hash);
      await alarms.clear('broadcast_refused', subject);
      await alarms.clear('gas_money_low', subject);
      continue;
    }
    const { detail } = answer.refusal;
    const meaning = meaningOfRefusal(detail);
    if (meaning === 'coins') {
      const text = `The hot wallet ${key.signer} has too little ${native} for network fees. Send ${native} to it.`;
      await alarms.raise('gas_money_low', subject, text);
      // Without this nonce the later ones cannot be mined.
      return taken;
    }
    if (meaning === 'wait') taken.waiting.push(hash);
    // Raising the fees is the cure, and happens by itself. A later nonce waits for the first one.
    if (meaning === 'fees' || meaning === 'wait' || nonce !== usedNonces) continue;
    const text = `A node refuses transaction ${hash} with nonce ${nonce} of ${key.signer}: ${detail}`;
    await alarms.raise('broadcast_refused', subject, text);
  }
  return taken;
}

/** Those that a block since could have taken: without a block, higher fees change nothing. */
function listPassedOver(
  { lookedAt }: BroadcastParts,
  newest: readonly Attempt[],
  { headBlock }: ChainView,
): Set<Hex> {
  const hashes = new Set(newest.map(({ hash }) => hash));
  for (const hash of lookedAt.keys()) if (!hashes.has(hash)) lookedAt.delete(hash);
  for (const hash of hashes) if (!lookedAt.has(hash)) lookedAt.set(hash, headBlock);
  return new Set([...lookedAt].flatMap(([hash, block]) => (headBlock > block ? [hash] : [])));
}

/**
 * Raises the fees of transactions that stay outside of blocks: the lowest nonce, for which all the
 * others wait, and those that the base fee has overtaken.
 */
export async function replaceStuck(parts: BroadcastParts, view: ChainView): Promise<void> {
  const { db, key, rules, alarms } = parts;
  const cap = rules.maxFeePerGasWei;
  const age = rules.replaceAfterMs;
  const newest = await findNewestAttempts(db, key, view.usedNonces, 'created', 0);
  const freed = newest.filter((one) => one.isFreed && !one.isEmpty);
  const old = await findNewestAttempts(db, key, view.usedNonces, 'created', age);
  const passedOver = listPassedOver(parts, newest, view);
  const stuck = old.filter((one) => passedOver.has(one.hash) && (!one.isFreed || one.isEmpty));
  const attempts = [...freed, ...stuck];
  let isCapped = false;
  for (const attempt of attempts) {
    const isFirst = attempt.nonce === view.usedNonces;
    const isWanted = attempt.isFreed && !attempt.isEmpty;
    if (!isFirst && !isWanted && attempt.maxFeePerGas >= view.baseFeePerGas) continue;
    const reference = await readReference(db, attempt.transferId);
    const fees = raisedFees(attempt, view, cap, (raised) => markFees(raised, reference));
    if (fees === null) isCapped = true;
    else {
      const gas = await estimateAgain(parts, attempt.nonce, reference);
      await raiseSlotFees(db, key, attempt, { ...fees, gas });
    }
  }
  if (!isCapped) await alarms.clear('fee_cap_reached', key.signer);
  else {
    await alarms.raise(
      'fee_cap_reached',
      key.signer,
      `A payout of the hot wallet ${key.signer} is stuck and its fees cannot be raised above max_fee_per_gas_gwei. Wait until fees fall, or raise the maximum.`,
    );
  }
}

/**
 * The recipient's contract may need more gas than it did when the slot was made, and so may data on the
 * first layer. Without an answer, or above gas_max, the slot keeps its gas.
 */
async function estimateAgain(
  { db, chain, key, signer, rules }: BroadcastParts,
  nonce: bigint,
  reference: string,
): Promise<bigint> {
  const [slot] = await findOpenSlots(db, key, { from: nonce, upTo: nonce + 1n });
  if (slot === undefined) return 0n;
  const { to, data, valueWei } = slot.isFreed
    ? emptyTransaction(signer.address, slot)
    : transactionOf(chain, slot);
  // A contract of the recipient burns no more of a node's time than when the slot was made.
  const limits = { value: toHex(valueWei), gas: toHex(rules.gasMax) };
  const [answer] = await chain.rpc.batch<Hex>([
    { method: 'eth_estimateGas', params: [{ from: key.signer, to, data, ...limits }, 'latest'] },
  ]);
  if (answer === undefined || 'refusal' in answer) return slot.gas;
  const estimated = BigInt(answer.result);
  const gas = withGasMargin(estimated);
  return estimated > rules.gasMax || gas <= slot.gas ? slot.gas : markGas(gas, reference);
}

async function readReference(db: Db, transferId: string): Promise<string> {
  if (transferId === '') return '';
  const [row] = await db.query<{ reference: string }>(
    'SELECT client_reference AS reference FROM wallet.transfer WHERE id = $1',
    [transferId],
  );
  if (row === undefined) throw new Error(`the transfer ${transferId} does not exist`);
  return row.reference;
}
