/**
 * The senders of one chain: one loop for each hot wallet, one that gives the queued transfers to them,
 * and one that follows replaced hot wallets to their end. Whoever has the chain's lock starts them.
 */
import { createAlarms } from '../alarms';
import type { Chain } from '../chain/chain';
import { isPaused } from '../chain/pause';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { joinLoops, type Loop, startLoop } from '../loop';
import type { PayoutRules } from '../networks';
import type { Signer } from '../signer/port';
import { fillSlots, type GivingParts } from './queue';
import { startReplacedSigners } from './replaced';
import { runSender } from './sender';

export function startSenders(
  db: Database,
  chain: Chain,
  signers: readonly Signer[],
  log: Log,
): Loop {
  const { chainId, name, pollMs } = chain.network;
  const shared = {
    db,
    chain,
    rules: rulesOf(chain),
    alarms: createAlarms(db, chain, log),
    signers: signers.map(({ address }) => address.toLowerCase()),
    compared: new Set<string>(),
  };
  const senders = signers.map((signer) => {
    const key = { chainId, signer: signer.address.toLowerCase() };
    const parts = { ...shared, key, signer, lookedAt: new Map() };
    return startLoop(`sender ${signer.address} of ${name}`, log, pollMs, () => runSender(parts));
  });
  const giver = startLoop(`queue of ${name}`, log, pollMs, () => give(shared, senders));
  return joinLoops([...senders, giver, startReplacedSigners(shared, log)]);
}

function rulesOf({ network }: Chain): PayoutRules {
  if (network.payouts === null) throw new Error(`${network.name} has no payouts`);
  return network.payouts;
}

/** A pause of payouts stops new slots only. */
async function give(parts: GivingParts, senders: readonly Loop[]): Promise<'more' | undefined> {
  if (await isPaused(parts.db, parts.chain.network.chainId)) return undefined;
  const given = await fillSlots(parts);
  if (given === 0) return undefined;
  for (const sender of senders) sender.wake();
  return 'more';
}
