/**
 * Follows the transactions of replaced hot wallets to their end: outcomes are settled and stored bytes
 * are broadcast again, for which no key is needed. Without the key nothing can be signed, so an alarm
 * names what stays outside of blocks.
 */
import type { Address } from 'viem';
import { type Alarms, createAlarms } from '../alarms';
import type { Chain } from '../chain/chain';
import { findPause } from '../chain/pause';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { type Loop, startLoop } from '../loop';
import type { PayoutRules } from '../networks';
import { broadcast } from './broadcast';
import type { QueueParts } from './queue';
import { settleFinal } from './settle';
import { findNewestAttempts, findOpenSlots, readSigner, type SignerKey } from './slots';
import { type ChainView, readView } from './view';

interface FollowParts {
  db: Database;
  chain: Chain;
  rules: PayoutRules;
  alarms: Alarms;
}

export function startReplacedSigners(
  db: Database,
  chain: Chain,
  rules: PayoutRules,
  log: Log,
): Loop {
  const { name, pollMs } = chain.network;
  const parts = { db, chain, rules, alarms: createAlarms(db, chain, log) };
  return startLoop(`replaced hot wallets of ${name}`, log, pollMs, () => runStep(parts));
}

async function runStep(parts: FollowParts): Promise<'more' | undefined> {
  const { db, chain, alarms } = parts;
  const { chainId } = chain.network;
  const signers = await db.query<{ address: Address; isOpen: boolean }>(
    `SELECT address, replaced_at IS NOT NULL AND EXISTS (
       SELECT 1 FROM wallet.slot WHERE slot.chain_id = signer.chain_id
         AND slot.signer = signer.address AND state = 'open') AS "isOpen"
     FROM wallet.signer WHERE chain_id = $1`,
    [chainId],
  );
  let hasMore = false;
  for (const { address, isOpen } of signers) {
    if (!isOpen) await alarms.clear('replaced_signer_stuck', address);
    else if (await follow({ ...parts, key: { chainId, signer: address } })) hasMore = true;
  }
  return hasMore ? 'more' : undefined;
}

/** @returns whether there may be more to settle */
async function follow(parts: QueueParts): Promise<boolean> {
  const { db, chain, key } = parts;
  const view = await readView(chain, key.signer as Address);
  const hasMore = await settleFinal(parts, view);
  const { stoppedReason } = await readSigner(db, key);
  if (stoppedReason !== null || (await findPause(db, key.chainId)) !== null) return hasMore;
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
  const detail = `The replaced hot wallet ${key.signer} has a transaction with nonce ${stuck.toString()} that is not in a block, and its fees cannot be raised without its key. Wait until fees fall, or name its key in WALLET_NETWORKS_FILE again until its transactions have ended.`;
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
