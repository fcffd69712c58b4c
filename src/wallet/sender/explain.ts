/**
 * What the chain and the pools know of the signer beyond the record: after a restore of an older
 * database, a failover to a copy that was behind, or when somebody else has the key. Each transaction
 * is looked up and adopted by the transfer that it pays. Until each is explained, the signer is
 * stopped and no transfer gets a nonce.
 */
import { type Address, getAddress, type Hex } from 'viem';
import { endAlarm } from '../alarms';
import { readFinalHead, toHex } from '../chain/chain';
import { readUsedNonces } from '../chain/finality';
import { amountOf } from '../units';
import type { Db, Tx } from '../db/database';
import { findAttempts } from './attempts';
import {
  adopt,
  type Candidate,
  findCandidates,
  type FoundTransaction,
  listOpenFound,
  readPayment,
  requeueHolder,
  storeAdoptedAttempt,
  storeFound,
} from './found';
import { hasMark } from './fingerprint';
import {
  countEverywhere,
  findTransactions,
  findWaiting,
  type SeenTransaction,
  type UsedNonces,
} from './lookup';
import type { QueueParts } from './queue';
import {
  advanceNonce,
  findOpenSlots,
  freePaidByAnother,
  hasOpenSlot,
  lockSigner,
  readSigner,
  type SignerKey,
  type Slot,
} from './slots';
import { sendableDecimals } from './transfers';
import type { ChainView } from './view';

/** How many nonces are looked at, at least, behind those that the nodes count. */
const WAITING_MIN = 64;
/** The maximum of unknown nonces that are looked up at once, because a node may count any number of them. */
const LOOKED_UP_MAX = 1_000;

/**
 * @param everyNode asks all nodes for the counts, as at the start and after a takeover
 * @returns whether the record knows every nonce
 */
export async function explainNonces(
  parts: QueueParts,
  view: ChainView,
  { everyNode }: { everyNode: boolean },
): Promise<boolean> {
  const { db, chain, key } = parts;
  const address = getAddress(key.signer);
  const used = everyNode
    ? await countEverywhere(chain, address)
    : { mined: view.usedNonces, pending: view.pendingNonces };
  const counted = highestOf(used, view);
  const before = await readSigner(db, key);
  const isUnseen = before.stoppedFor === 'used_nonce';
  if (isUnseen) await endsWithItsSlot(parts, view);
  const { nextNonce, stoppedFor } = isUnseen ? await readSigner(db, key) : before;
  const isKnown = counted <= nextNonce && stoppedFor !== 'found_transactions';
  if (isKnown && !everyNode) return true;
  const next = counted > nextNonce ? counted : nextNonce;
  const { waiting, isComplete } = await findUnknownInPools(parts, nextNonce, next);
  if (isKnown && waiting.length === 0) return true;
  const finalNonces = await readFinalNonces(parts, address);
  const known = await listKnownNonces(parts, nextNonce, finalNonces);
  const most = nextNonce + BigInt(known.size + LOOKED_UP_MAX);
  const upTo = counted < most ? counted : most;
  const wanted = range(nextNonce, upTo).filter((nonce) => !known.has(nonce));
  const seen = [...(await findTransactions(chain, address, wanted)), ...waiting];
  const last = waiting.at(-1)?.nonce ?? 0n;
  const top = last >= counted ? last + 1n : counted;
  return db.transaction(async (tx) => {
    await lockSigner(tx, key);
    // A node that is silent may hold more than is seen.
    const unmined = isComplete && view.usedNonces < nextNonce ? view.usedNonces : nextNonce;
    await dropUnseen(tx, parts, {
      from: unmined > finalNonces ? unmined : finalNonces,
      upTo: isComplete ? null : counted,
      keep: seen.map(({ hash }) => hash),
    });
    await storeFound(tx, chain, key, seen);
    const open = await adoptWhatFits(tx, parts, finalNonces);
    const hidden = wanted.filter((nonce) => !seen.some((one) => one.nonce === nonce));
    if (upTo < counted) hidden.push(counted - 1n);
    if (open.length > 0 || hidden.length > 0) {
      await stopForFound(tx, parts, open, hidden);
      return false;
    }
    await advanceNonce(tx, key, top);
    await endStop(tx, parts);
    return true;
  });
}

/**
 * What pools hold in open slots, and behind the nonces that the nodes count, and the record does not know.
 * @param next behind what the nodes count
 * @returns isComplete: no node was silent
 */
async function findUnknownInPools(
  parts: QueueParts,
  nextNonce: bigint,
  next: bigint,
): Promise<{ waiting: SeenTransaction[]; isComplete: boolean }> {
  const { db, chain, key, rules } = parts;
  const slots = await findOpenSlots(db, key, {});
  const ahead = BigInt(Math.max(WAITING_MIN, 2 * rules.inFlightMax));
  const { seen, isComplete } = await findWaiting(chain, getAddress(key.signer), [
    ...range(slots[0]?.nonce ?? nextNonce, nextNonce),
    ...range(next, next + ahead),
  ]);
  const isFree = (nonce: bigint) => nonce >= next && !slots.some((slot) => slot.nonce === nonce);
  const conflicts = await findConflicts(parts, slots, seen);
  return { waiting: [...conflicts, ...seen.filter(({ nonce }) => isFree(nonce))], isComplete };
}

/**
 * A pool has another transaction in an open slot than the record: an older database, or a copy, gave the nonce
 * to another transfer. Which of the two is mined is not known yet.
 */
async function findConflicts(
  parts: QueueParts,
  slots: readonly Slot[],
  inPools: readonly SeenTransaction[],
): Promise<SeenTransaction[]> {
  const last = slots.at(-1);
  if (last === undefined) return [];
  const own = await findAttempts(parts.db, parts.key, { upTo: last.nonce + 1n });
  const known = new Set(own.map(({ hash }) => hash));
  const conflicts: SeenTransaction[] = [];
  for (const seen of inPools) {
    const slot = slots.find(({ nonce }) => nonce === seen.nonce);
    if (slot === undefined || known.has(seen.hash)) continue;
    if (!(await adoptIfOwn(parts, slot, seen))) conflicts.push(seen);
  }
  return conflicts;
}

/** Zero where the node does not keep the state of the final block: then everything is looked up again. */
async function readFinalNonces({ chain }: QueueParts, address: Address): Promise<bigint> {
  const { final } = await readUsedNonces(chain, address, await readFinalHead(chain));
  return final ?? 0n;
}

/** Returns null when the node has no longer the state of that block. */
export async function readNonceAt(
  { rpc }: QueueParts['chain'],
  signer: string,
  block: number,
): Promise<bigint | null> {
  const [answer] = await rpc.batch<Hex>([
    { method: 'eth_getTransactionCount', params: [signer, toHex(BigInt(block))] },
  ]);
  return answer !== undefined && 'result' in answer ? BigInt(answer.result) : null;
}

function highestOf({ mined, pending }: UsedNonces, view: ChainView): bigint {
  const counts = [mined, pending, view.usedNonces, view.pendingNonces];
  return counts.reduce((most, one) => (one > most ? one : most), 0n);
}

function range(from: bigint, to: bigint): bigint[] {
  return Array.from({ length: Math.max(0, Number(to - from)) }, (_, index) => from + BigInt(index));
}

/** A decision stays, and so does what is final; anything else is looked up again. */
async function listKnownNonces(
  { db, key }: QueueParts,
  from: bigint,
  finalNonces: bigint,
): Promise<Set<bigint>> {
  const rows = await db.query<{ nonce: string }>(
    `SELECT nonce FROM wallet.found_transaction
     WHERE chain_id = $1 AND signer = $2 AND nonce >= $3 AND (state <> 'open' OR nonce < $4)`,
    [key.chainId, key.signer, from.toString(), finalNonces.toString()],
  );
  return new Set(rows.map(({ nonce }) => BigInt(nonce)));
}

/** A pool dropped it, or it was replaced there: it explains nothing any more. */
async function dropUnseen(
  tx: Tx,
  { key }: QueueParts,
  { from, upTo, keep }: { from: bigint; upTo: bigint | null; keep: readonly string[] },
): Promise<void> {
  await tx.query(
    `DELETE FROM wallet.found_transaction
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3
       AND ($4::bigint IS NULL OR nonce < $4) AND NOT hash = ANY ($5::text[])`,
    [key.chainId, key.signer, from.toString(), upTo?.toString() ?? null, keep],
  );
}

/**
 * One transfer with its mark and no other is certain. Without the mark it may be another order of the same
 * amount to the same address, so an operator decides.
 * @param finalNonces below it, the nonce of an open slot is used for good
 * @returns what stays open
 */
async function adoptWhatFits(
  tx: Tx,
  { chain, key }: QueueParts,
  finalNonces: bigint,
): Promise<FoundTransaction[]> {
  const open: FoundTransaction[] = [];
  for (const found of await listOpenFound(tx, key)) {
    if (found.nonce >= finalNonces && (await hasOpenSlot(tx, key, found.nonce))) {
      open.push(found);
      continue;
    }
    const marked = (await findCandidates(tx, key, found)).filter(({ isMarked }) => isMarked);
    const [only] = marked;
    const isAdopted =
      marked.length === 1 &&
      only !== undefined &&
      (await adopt(tx, chain, key, found, only.transferId));
    if (!isAdopted) open.push(found);
  }
  if (open.length > 0) await freePaidByAnother(tx, key);
  return open;
}

const REASON = 'The chain has transactions of the hot wallet that the database does not know';
const REMEDY =
  'They are explained when the gateway submits the payouts that they paid again. See `wallet status`; decide the others with `wallet resume-signer`.';

async function stopForFound(
  tx: Tx,
  { key, alarms }: QueueParts,
  open: readonly FoundTransaction[],
  hidden: readonly bigint[] | 'not looked for',
): Promise<void> {
  const unseen = hidden === 'not looked for' ? [] : hidden;
  const nonces = [...open.map(({ nonce }) => nonce), ...unseen].sort((a, b) => (a < b ? -1 : 1));
  const reason = `${REASON}: ${nonces.length === 1 ? 'nonce' : 'nonces'} ${listOf(nonces)}.`;
  await tx.query(
    `UPDATE wallet.signer SET stopped_reason = $3, stopped_for = 'found_transactions',
       has_unseen_nonces = coalesce($4, has_unseen_nonces)
     WHERE chain_id = $1 AND address = $2
       AND (stopped_for IS NULL OR stopped_for = 'found_transactions')`,
    [key.chainId, key.signer, reason, hidden === 'not looked for' ? null : hidden.length > 0],
  );
  await alarms.raise('signer_stopped', key.signer, `${reason} ${REMEDY}`, tx);
}

/** Names only the first and the last of many, because an account of somebody else may have thousands. */
function listOf(nonces: readonly bigint[]): string {
  const [first, last] = [nonces[0], nonces.at(-1)];
  if (first === undefined || last === undefined) return '';
  if (nonces.length <= 3) return nonces.join(', ');
  return `${first.toString()} to ${last.toString()}`;
}

async function endStop(tx: Tx, { key }: QueueParts): Promise<void> {
  const ended = await tx.query(
    `UPDATE wallet.signer
     SET stopped_reason = NULL, stopped_for = NULL, has_unseen_nonces = false
     WHERE chain_id = $1 AND address = $2 AND stopped_for = 'found_transactions' RETURNING 1`,
    [key.chainId, key.signer],
  );
  if (ended.length === 0) return;
  await endAlarm(tx, key.chainId, 'signer_stopped', key.signer);
}

/**
 * The nonce of an open slot is used, in a final block, by a transaction that the record does not have.
 * @param isCertain every node says so: the slot's own transactions can never be mined, and its transfer is
 *   queued again unless that transaction may have paid it
 * @returns false when no node shows that transaction
 */
export async function explainUsedNonce(
  parts: QueueParts,
  slot: Slot,
  { isCertain }: { isCertain: boolean },
): Promise<boolean> {
  const { db, chain, key } = parts;
  const [seen] = await findTransactions(chain, getAddress(key.signer), [slot.nonce]);
  if (seen === undefined) return false;
  const isOwn = await adoptIfOwn(parts, slot, seen);
  await db.transaction(async (tx) => {
    await lockSigner(tx, key);
    await endsWhenExplained(tx, key);
    if (isOwn) return;
    // An operator may have decided in between.
    if (!(await hasOpenSlot(tx, key, slot.nonce))) return;
    await storeFound(tx, chain, key, [seen]);
    if (isCertain) await requeueHolder(tx, key, slot.nonce);
    const open = await adoptWhatFits(tx, parts, isCertain ? slot.nonce + 1n : 0n);
    if (open.length > 0) await stopForFound(tx, parts, open, 'not looked for');
  });
  return true;
}

/** A node was silent when the signer was stopped, and shows the transaction now: no operator is needed. */
async function endsWhenExplained(
  db: Db,
  { chainId, signer }: SignerKey,
  only = 'true',
): Promise<void> {
  await db.query(
    `UPDATE wallet.signer SET stopped_for = 'found_transactions'
     WHERE chain_id = $1 AND address = $2 AND stopped_for = 'used_nonce' AND ${only}`,
    [chainId, signer],
  );
}

/** Does the same when the slot has ended by a transaction of its own. */
function endsWithItsSlot({ db, key }: QueueParts, { usedNonces }: ChainView): Promise<void> {
  const hasEnded = `NOT EXISTS (SELECT FROM wallet.slot WHERE slot.chain_id = signer.chain_id
    AND slot.signer = signer.address AND state = 'open' AND nonce < ${usedNonces.toString()})`;
  return endsWhenExplained(db, key, hasEnded);
}

/**
 * The nonce of an open slot is used by a transaction that the record does not have. When it pays the
 * slot's own transfer, it is a replacement whose bytes were lost with the commit or the database, and
 * becomes an attempt.
 * @returns whether it was adopted
 */
export async function adoptReplacement(parts: AdoptParts, slot: Slot): Promise<boolean> {
  const { chain, key } = parts;
  const [seen] = await findTransactions(chain, getAddress(key.signer), [slot.nonce]);
  return seen !== undefined && adoptIfOwn(parts, slot, seen);
}

type AdoptParts = Pick<QueueParts, 'db' | 'chain' | 'key'>;

async function adoptIfOwn(
  { db, chain, key }: AdoptParts,
  slot: Slot,
  seen: SeenTransaction,
): Promise<boolean> {
  const payment = readPayment(chain, seen);
  const [transfer] = await db.query<{ reference: string }>(
    'SELECT client_reference AS reference FROM wallet.transfer WHERE id = $1',
    [slot.transferId],
  );
  const isOwn =
    payment !== null &&
    transfer !== undefined &&
    payment.asset === slot.asset &&
    payment.units === slot.units &&
    payment.recipient.toLowerCase() === slot.recipient.toLowerCase() &&
    hasMark(seen, transfer.reference);
  if (!isOwn) return false;
  await storeAdoptedAttempt(db, key, seen);
  return true;
}

export interface OpenFound {
  nonce: string;
  hash: string;
  /** Null when it is no transfer that the wallet would make. */
  pays: { asset: string; amount: string; recipient: Address } | null;
  /** References of queued transfers that it would pay. */
  candidates: { reference: string; has_mark: boolean }[];
}

/** `wallet status` and `resume-signer` show it. */
export async function describeFound({
  db,
  chain,
  key,
}: Pick<QueueParts, 'chain' | 'key'> & { db: Db }): Promise<OpenFound[]> {
  const described: OpenFound[] = [];
  for (const found of await listOpenFound(db, key)) {
    const { payment } = found;
    const decimals = payment === null ? null : sendableDecimals(chain.network, payment.asset);
    const candidates: Candidate[] = await findCandidates(db, key, found);
    described.push({
      nonce: found.nonce.toString(),
      hash: found.hash,
      pays:
        payment === null || decimals === null
          ? null
          : {
              asset: payment.asset,
              amount: amountOf(payment.units, decimals),
              recipient: payment.recipient,
            },
      candidates: candidates.map(({ reference, isMarked }) => ({ reference, has_mark: isMarked })),
    });
  }
  return described;
}

export function describeOpenFound({ nonce, hash, pays, candidates }: OpenFound): string {
  const what =
    pays === null
      ? 'it is no transfer that the wallet would make'
      : `it pays ${pays.amount} ${pays.asset} to ${pays.recipient}`;
  const fits = candidates.map(({ reference }) => reference).join(', ');
  return `nonce ${nonce}, ${hash}: ${what}; ${fits === '' ? 'no queued payout fits' : `fits ${fits}`}`;
}
