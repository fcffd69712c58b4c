/**
 * Compares the record of a hot wallet with the chain and the pools. What the record lacks, as after a restore or
 * a failover, stops the payouts of the whole chain. The stop ends by itself only when mined transactions explain
 * it: each is final at every node and has the mark of one payout. Anything else is a person's (./restore).
 */
import { type Address, getAddress } from 'viem';
import type { ChainView } from './view';
import { findAttempts } from './attempts';
import { explain } from './explain';
import { max } from './fees';
import { isPaymentOf, storeAdoptedAttempt } from './found';
import { countEverywhere, findTransactions, findWaiting, type SeenTransaction } from './lookup';
import type { QueueParts } from './parts';
import { findOpenSlots, readSigner, type Slot, stopSigner } from './slots';

/** How many nonces are looked at, at least, behind those that the nodes count. */
export const WAITING_MIN = 64n;
/** More at once are not what a failover has lost. */
const LOST_MAX = 1_000n;

/** @param everyNode asks all nodes in any case, as at the start and after a takeover */
export async function compareNonces(
  parts: QueueParts,
  view: ChainView,
  { everyNode }: { everyNode: boolean },
): Promise<void> {
  const { db, chain, key } = parts;
  const address = getAddress(key.signer);
  const signer = await readSigner(db, key);
  const isStopped = signer.stoppedReason !== null;
  if (isStopped && signer.explainTo === null) return;
  // What empty transactions replace is no news; what is above them is.
  if (signer.isRestoring && !everyNode) return explain(parts);
  const known = max(signer.nextNonce, signer.explainTo ?? 0n);
  if (!everyNode && !isStopped && view.pendingNonces <= known) return;
  const { mined, pending } = await countEverywhere(chain, address);
  const counted = max(view.pendingNonces, mined, pending);
  const { conflict, waiting, isComplete } = await lookIntoPools(parts, known, counted);
  // The wallet runs beside a command, and has given nonces meanwhile.
  if ((await readSigner(db, key)).nextNonce !== signer.nextNonce) return;
  if (conflict !== null && !signer.isRestoring) {
    const nonce = conflict.nonce.toString();
    await stop(parts, `A node has another transaction with nonce ${nonce} than the database`, null);
  } else if (counted > known || waiting > known) {
    const top = max(counted, waiting);
    const nonces = `${signer.nextNonce} to ${(top - 1n).toString()}`;
    const beyond = { nextNonce: signer.nextNonce, mined, counted, top };
    const explainTo = signer.isRestoring ? null : await boundOf(parts, beyond);
    await stop(parts, `The nodes have nonces that the database lacks: ${nonces}`, explainTo);
  } else if (isStopped && isComplete) await explain(parts);
}

interface Beyond {
  nextNonce: bigint;
  mined: bigint;
  counted: bigint;
  /** Above the highest nonce that anything uses. */
  top: bigint;
}

/**
 * Below which nonces the stop may end by itself. Null for what no failover leaves behind: gaps in the nonces, more
 * than a failover loses, and a key that the database has never used.
 */
async function boundOf(
  parts: QueueParts,
  { nextNonce, mined, counted, top }: Beyond,
): Promise<bigint | null> {
  // No pool holds as many: the node is wrong, and the stop ends when it is not.
  if (mined <= nextNonce && top - nextNonce > LOST_MAX) return nextNonce;
  const isFailover = top - nextNonce <= LOST_MAX && top === counted && (await hasSent(parts));
  return isFailover ? top : null;
}

const REMEDY =
  'No payout of the chain is sent. If the transactions are mined and have paid payouts, the stop ends by itself when they are final. Otherwise see `npm run wallet -- restore`.';

async function stop(
  { db, key, alarms }: QueueParts,
  reason: string,
  explainTo: bigint | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await stopSigner(tx, key, `${reason}.`, { explainTo }))) return;
    await alarms.raise('signer_stopped', key.signer, `${reason}. ${REMEDY}`, tx);
  });
}

async function hasSent({ db, key }: QueueParts): Promise<boolean> {
  const [slot] = await db.query(
    'SELECT 1 FROM wallet.slot WHERE chain_id = $1 AND signer = $2 LIMIT 1',
    [key.chainId, key.signer],
  );
  return slot !== undefined;
}

interface Pools {
  /** Another transaction in an open slot than the record has. */
  conflict: SeenTransaction | null;
  /** Above the highest nonce that waits behind the known ones, also behind a gap, where no count shows it. */
  waiting: bigint;
  /** No node was silent. */
  isComplete: boolean;
}

async function lookIntoPools(parts: QueueParts, known: bigint, counted: bigint): Promise<Pools> {
  const { db, chain, key, rules } = parts;
  const slots = await findOpenSlots(db, key, {});
  const next = max(known, counted);
  const ahead = max(WAITING_MIN, BigInt(2 * rules.inFlightMax));
  const { seen, isComplete } = await findWaiting(chain, getAddress(key.signer), [
    ...slots.map(({ nonce }) => nonce),
    ...range(next, next + ahead),
  ]);
  const last = slots.at(-1);
  const own = last === undefined ? [] : await findAttempts(db, key, { upTo: last.nonce + 1n });
  const hashes = new Set(own.map(({ hash }) => hash));
  let [conflict, waiting]: [SeenTransaction | null, bigint] = [null, 0n];
  for (const one of seen) {
    const slot = slots.find(({ nonce }) => nonce === one.nonce);
    if (slot === undefined) {
      if (one.nonce >= known) waiting = max(waiting, one.nonce + 1n);
    } else if (!hashes.has(one.hash) && !(await adoptReplacement(parts, slot, one)))
      conflict ??= one;
  }
  return { conflict, waiting, isComplete };
}

/**
 * A transaction in an open slot that the record does not have. One that pays the slot's own transfer is a
 * replacement whose bytes were lost with the commit or the database, and becomes an attempt.
 * @returns whether it was adopted
 */
async function adoptReplacement(
  { db, chain, key }: QueueParts,
  slot: Slot,
  seen: SeenTransaction,
): Promise<boolean> {
  const [transfer] = await db.query<{ reference: string }>(
    'SELECT client_reference AS reference FROM wallet.transfer WHERE id = $1',
    [slot.transferId],
  );
  if (transfer === undefined || !isPaymentOf(chain, seen, { ...slot, ...transfer })) return false;
  await storeAdoptedAttempt(db, key, seen);
  return true;
}

/**
 * The nonce of an open slot is used in a final block by a transaction that the record does not have: a replacement
 * becomes an attempt, and anything else stops the payouts. Nothing about the transfer changes.
 */
export async function stopForUsedNonce(parts: QueueParts, slot: Slot): Promise<void> {
  const { db, chain, key, alarms } = parts;
  const [seen] = await findTransactions(chain, key.signer as Address, [slot.nonce]);
  if (seen !== undefined && (await adoptReplacement(parts, slot, seen))) return;
  const what = seen === undefined ? 'that no node shows' : seen.hash;
  const reason = `Nonce ${slot.nonce} was used by a transaction that the database does not know: ${what}.`;
  await db.transaction(async (tx) => {
    if (!(await stopSigner(tx, key, reason, { openNonce: slot.nonce }))) return;
    const remedy =
      'No payout of the chain is sent. Find out whether somebody else has the key, then see `npm run wallet -- restore`.';
    await alarms.raise('signer_stopped', key.signer, `${reason} ${remedy}`, tx);
  });
}

function range(from: bigint, to: bigint): bigint[] {
  return Array.from({ length: Math.max(0, Number(to - from)) }, (_, index) => from + BigInt(index));
}
