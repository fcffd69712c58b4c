/**
 * The sender of one hot wallet: a loop that reads the chain, ends what is final, signs, broadcasts and
 * replaces what has a nonce. All of its knowledge is in the database and on the chain, so it may be
 * killed at any point. ./senders starts one for each hot wallet of a chain.
 */
import { findPause } from '../chain/pause';
import { ChainUnavailable } from '../chain/rpc';
import { findPlace } from '../follower/place';
import { amountOf, unitsOf } from '../units';
import { broadcast, type BroadcastParts, replaceStuck, signSlots } from './broadcast';
import { compareNonces } from './compare';
import { keepFence } from './fence';
import { isCompared } from './queue';
import { settleFinal } from './settle';
import { readNonceAt } from './nonce-finality';
import { isStopped, readSigner, registerSigner } from './slots';
import { sendableDecimals } from './transfers';
import { type ChainView, readView } from './view';

interface SenderParts extends BroadcastParts {
  /** All hot wallets that send on the chain, in lower case. */
  signers: readonly string[];
  /** The hot wallets whose nonces were compared with every node since this process has the chain. */
  compared: Set<string>;
}

/** One round. @returns 'more' when there is more to do at once */
export async function runSender(parts: SenderParts): Promise<'more' | undefined> {
  const { db, key, signers, compared } = parts;
  const view = await readViewOrAlarm(parts);
  await registerSigner(db, key, signers, () => findStart(parts, view));
  // Another process or another database may have sent before this one took the chain over.
  await compareNonces(parts, view, { everyNode: !compared.has(key.signer) });
  compared.add(key.signer);
  const hasMore = await settleFinal(parts, view);
  await watchFloat(parts, view);
  if ((await findPause(db, key.chainId)) !== null) return undefined;
  // Another hot wallet may have paid what this one has a nonce for.
  if (!(await isCompared(parts))) return undefined;
  // In a restore, all that is sent are empty transactions.
  const { isRestoring } = await readSigner(db, key);
  if (!isRestoring && (await isStopped(db, key.chainId))) return undefined;
  await keepFence(parts, view);
  await replaceStuck(parts, view);
  // What the last round stored is broadcast while the next slots are signed. A pause of payouts stops
  // neither, because the chain mines no later nonce before these.
  const [signed] = await Promise.all([signSlots(parts), broadcast(parts, view)]);
  return hasMore || signed > 0 ? 'more' : undefined;
}

/** More than a hot wallet sends until its oldest payout is final. */
const EXPLAINED_MAX = 2_000n;

/**
 * A database that was restored to a time before the signer's first start has followed the chain up to
 * a final block. What the signer sent later is unknown, and must be explained. A new database
 * may stand in for one that was lost with payouts under way, so the last transactions must be explained, as
 * where no node has the state of that block.
 */
async function findStart({ db, chain, key }: BroadcastParts, view: ChainView): Promise<bigint> {
  const place = await findPlace(db, key.chainId);
  const isRestored = place !== null && !place.isNew;
  const known = isRestored ? await readNonceAt(chain, key.signer, place.finalNumber) : null;
  return known ?? (view.usedNonces > EXPLAINED_MAX ? view.usedNonces - EXPLAINED_MAX : 0n);
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
  { chain, key, rules, alarms }: BroadcastParts,
  view: ChainView,
): Promise<void> {
  for (const [asset, minimum] of Object.entries(rules.floatMinimum)) {
    const decimals = sendableDecimals(chain.network, asset);
    if (decimals === null) continue;
    const balance = view.balances.get(asset) ?? 0n;
    const subject = `${asset} of ${key.signer}`;
    if (balance >= (unitsOf(minimum, decimals) ?? 0n)) {
      await alarms.clear('float_below_minimum', subject);
      continue;
    }
    const detail = `The hot wallet ${key.signer} has ${amountOf(balance, decimals)} ${asset}, less than the minimum of ${minimum}. Send ${asset} to it.`;
    await alarms.raise('float_below_minimum', subject, detail);
  }
}
