/**
 * The sender of one chain: a loop that reads the chain, ends what is final, gives queued transfers
 * their nonces, signs, broadcasts and replaces. All of its knowledge is in the database and on the
 * chain, so it may be killed at any point.
 */
import type { Hex } from 'viem';
import { createAlarms } from '../alarms';
import { type Chain, toHex } from '../chain/chain';
import { findPause, isPaused } from '../chain/pause';
import { ChainUnavailable } from '../chain/rpc';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { findPlace } from '../follower/place';
import { type Loop, startLoop } from '../loop';
import type { PayoutRules } from '../networks';
import type { Signer } from '../signer/port';
import { amountOf, unitsOf } from '../units';
import { broadcast, type BroadcastParts, replaceStuck, signSlots } from './broadcast';
import { explainNonces } from './explain';
import { fillSlots } from './queue';
import { settleFinal } from './settle';
import { readSigner, registerSigner } from './slots';
import { sendableDecimals } from './transfers';
import { type ChainView, readView } from './view';

export function startSender(db: Database, chain: Chain, signer: Signer, log: Log): Loop {
  const rules = rulesOf(chain);
  const { chainId, name, pollMs } = chain.network;
  const key = { chainId, signer: signer.address.toLowerCase() };
  const alarms = createAlarms(db, chain, log);
  const parts: BroadcastParts = { db, chain, rules, key, alarms, signer };
  // Another process or another database may have sent before this one took the chain over.
  let isTakeover = true;
  return startLoop(`sender of ${name}`, log, pollMs, async () => {
    const more = await runStep(parts, isTakeover);
    isTakeover = false;
    return more;
  });
}

function rulesOf({ network }: Chain): PayoutRules {
  if (network.payouts === null) throw new Error(`${network.name} has no payouts`);
  return network.payouts;
}

async function runStep(parts: BroadcastParts, isTakeover: boolean): Promise<'more' | undefined> {
  const { db, key } = parts;
  const view = await readViewOrAlarm(parts);
  await registerSigner(db, key, () => findStart(parts, view));
  const isExplained = await explainNonces(parts, view, { everyNode: isTakeover });
  const hasMore = await settleFinal(parts, view);
  await watchFloat(parts, view);
  const { stoppedReason } = await readSigner(db, key);
  if (!isExplained || stoppedReason !== null) return undefined;
  if ((await findPause(db, key.chainId)) !== null) return undefined;
  await replaceStuck(parts, view);
  // What the last step stored is broadcast while the next slots are made.
  const [made] = await Promise.all([makeAttempts(parts, view), broadcast(parts, view)]);
  return hasMore || made > 0 ? 'more' : undefined;
}

/**
 * A database that was restored to a time before the signer's first start has followed the chain up to
 * a final block. What the signer sent later is unknown, and must be explained. A node without the state
 * of that block cannot tell, and the signer begins where the chain is.
 */
async function findStart({ db, chain, key }: BroadcastParts, view: ChainView): Promise<bigint> {
  const place = await findPlace(db, key.chainId);
  if (place === null) return view.usedNonces;
  const at = toHex(BigInt(place.finalNumber));
  const [answer] = await chain.rpc.batch<Hex>([
    { method: 'eth_getTransactionCount', params: [key.signer, at] },
  ]);
  return answer !== undefined && 'result' in answer ? BigInt(answer.result) : view.usedNonces;
}

/**
 * A pause of payouts stops new slots only. What has a nonce is signed in any case, because the chain
 * mines no later nonce before it.
 * @returns how many transfers got a slot
 */
async function makeAttempts(parts: BroadcastParts, view: ChainView): Promise<number> {
  const made = (await isPaused(parts.db, parts.key.chainId)) ? 0 : await fillSlots(parts, view);
  const signed = await signSlots(parts);
  return Math.max(made, signed);
}

async function readViewOrAlarm({ chain, signer, alarms }: BroadcastParts): Promise<ChainView> {
  const { name } = chain.network;
  try {
    const view = await readView(chain, signer.address);
    await alarms.clear('chain_unavailable', name);
    return view;
  } catch (error) {
    if (error instanceof ChainUnavailable) {
      const detail = `No node of ${name} answers. Payouts wait. (${error.message})`;
      await alarms.raise('chain_unavailable', name, detail);
    }
    throw error;
  }
}

async function watchFloat(
  { chain, rules, alarms }: BroadcastParts,
  view: ChainView,
): Promise<void> {
  for (const [asset, minimum] of Object.entries(rules.floatMinimum)) {
    const decimals = sendableDecimals(chain.network, asset);
    if (decimals === null) continue;
    const balance = view.balances.get(asset) ?? 0n;
    if (balance >= (unitsOf(minimum, decimals) ?? 0n)) {
      await alarms.clear('float_below_minimum', asset);
      continue;
    }
    const detail = `The hot wallet has ${amountOf(balance, decimals)} ${asset}, less than the minimum of ${minimum}. Send ${asset} to it.`;
    await alarms.raise('float_below_minimum', asset, detail);
  }
}
