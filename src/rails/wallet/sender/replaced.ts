/**
 * Follows the transactions of replaced hot wallets to their end: outcomes are settled and stored bytes
 * are broadcast again, for which no key is needed. Without the key nothing can be signed, so an alarm
 * names what stays outside of blocks.
 */
import type { Address } from 'viem';
import { findPause } from '../chain/pause';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { findPlace, type Place } from '../follower/place';
import { type Loop, startLoop } from '../loop';
import { broadcast } from './broadcast';
import { compareNonces } from './compare';
import { readNonceAt } from './nonce-finality';
import type { QueueParts } from './parts';
import { isCompared } from './queue';
import { settleFinal } from './settle';
import { findNewestAttempts } from './attempts';
import { advanceNonce, findOpenSlots, isStopped, type SignerKey } from './slots';
import { type ChainView, readView } from './view';

interface FollowParts extends Omit<QueueParts, 'key'> {
  /** Hot wallets whose nonces were compared with every node since this process has the chain. */
  compared: Set<string>;
  /** The hot wallets that send now. */
  signers: readonly string[];
}

export function startReplacedSigners(parts: FollowParts, log: Log): Loop {
  const { db, chain } = parts;
  const { name, pollMs } = chain.network;
  // Before the follower goes on: what was in a final block then is in the record.
  const place = findPlace(db, chain.network.chainId).catch(() => null);
  return startLoop(`replaced hot wallets of ${name}`, log, pollMs, async () =>
    runStep(parts, await place),
  );
}

interface Replaced {
  address: Address;
  isReplaced: boolean;
  /** It has slots that are not final. */
  isOpen: boolean;
  isStopped: boolean;
}

async function runStep(parts: FollowParts, place: Place | null): Promise<'more' | undefined> {
  const { db, chain, alarms, compared } = parts;
  const { chainId } = chain.network;
  const signers = await db.query<Replaced>(
    `SELECT address, replaced_at IS NOT NULL AS "isReplaced",
       stopped_reason IS NOT NULL AS "isStopped",
       EXISTS (
         SELECT 1 FROM wallet.slot WHERE slot.chain_id = signer.chain_id
           AND slot.signer = signer.address AND state = 'open') AS "isOpen"
     FROM wallet.signer WHERE chain_id = $1`,
    [chainId],
  );
  let hasMore = false;
  for (const { address, isReplaced, isOpen, isStopped: isUnexplained } of signers) {
    if (!isReplaced || !isOpen) await alarms.clear('replaced_signer_stuck', address);
    if (!isReplaced) continue;
    const own = { ...parts, key: { chainId, signer: address } };
    if (isUnexplained || !compared.has(address)) await compare(own, place);
    if (isOpen && (await follow(own))) hasMore = true;
  }
  return hasMore ? 'more' : undefined;
}

/**
 * A restored database may not know what a replaced hot wallet has paid. It does know what was in a final
 * block when the follower had read it, so a later nonce below that one is not the wallet's.
 */
async function compare(parts: FollowParts & QueueParts, place: Place | null): Promise<void> {
  const { db, chain, key, compared } = parts;
  await endOwnAlarms(parts);
  const view = await readView(chain, key.signer as Address);
  const known = place === null ? null : await readNonceAt(chain, key.signer, place.finalNumber);
  if (known !== null) await db.transaction((tx) => advanceNonce(tx, key, known));
  await compareNonces(parts, view, { everyNode: true });
  compared.add(key.signer);
}

/** It sends nothing more, so they would never end. */
async function endOwnAlarms({ db, key }: QueueParts): Promise<void> {
  await db.query(
    `UPDATE wallet.alarm SET cleared_at = clock_timestamp()
     WHERE chain_id = $1
       AND kind IN ('float_below_minimum', 'fee_cap_reached', 'signing_failed', 'database_changed')
       AND lower(subject) LIKE '%' || $2 AND cleared_at IS NULL`,
    [key.chainId, key.signer],
  );
}

/** @returns whether there may be more to settle */
async function follow(parts: FollowParts & QueueParts): Promise<boolean> {
  const { db, chain, key } = parts;
  const view = await readView(chain, key.signer as Address);
  const hasMore = await settleFinal(parts, view);
  if ((await isStopped(db, key.chainId)) || (await findPause(db, key.chainId)) !== null) {
    return hasMore;
  }
  if (!(await isCompared(parts))) return hasMore;
  await broadcast(parts, view);
  await reportStuck(parts, view);
  return hasMore;
}

/** What a hot wallet with its key would sign, or replace with higher fees. */
async function reportStuck({ db, rules, key, alarms }: QueueParts, view: ChainView): Promise<void> {
  const stuck = await findStuckNonce(db, key, view, rules.replaceAfterMs);
  if (stuck === null) {
    await alarms.clear('replaced_signer_stuck', key.signer);
    return;
  }
  const detail = `The replaced hot wallet ${key.signer} has a transaction with nonce ${stuck} that is not in a block, and its fees cannot be raised without its key. Wait until fees fall, or name its key in WALLET_NETWORKS_FILE again until its transactions have ended.`;
  await alarms.raise('replaced_signer_stuck', key.signer, detail);
}

async function findStuckNonce(
  db: Database,
  key: SignerKey,
  view: ChainView,
  ageMs: number,
): Promise<bigint | null> {
  const [old] = await findNewestAttempts(db, key, view.usedNonces, 'created', ageMs);
  if (old !== undefined) return old.nonce;
  const [unsigned] = await findOpenSlots(db, key, {
    from: view.usedNonces,
    signed: false,
    limit: 1,
  });
  return unsigned?.nonce ?? null;
}
