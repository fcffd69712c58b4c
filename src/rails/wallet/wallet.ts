/**
 * Builds and starts the wallet: one EVM rail behind the on-chain provider's HTTP API. Started by
 * src/bin/wallet.ts as a process, and by tests in theirs.
 */
import { Registry } from 'prom-client';
import type { Address } from 'viem';
import { skipAfterRestore } from './addresses/skip-addresses';
import { type Chain, createChain, verifyChain } from './chain/chain';
import { errorText } from '../../platform/lib/command-line';
import { SetupError } from '../../platform/lib/setup-error';
import { onchainApi } from '../onchain-api/api';
import { listen } from '../onchain-api/listen';
import type { Log, WalletConfig } from './config';
import { Database } from './db/database';
import { readIdentity } from './db/identity';
import { migrateWallet, requireMigrations } from './db/migrate';
import {
  createCheckoutParts,
  createFollowing,
  createSumsCheck,
  startDepositWork,
} from './deposits';
import { driveChain, type DriverParts } from './driver';
import type { DurableParts } from './durable/workers';
import { ensurePlace } from './follower/follower';
import { startCallbacks } from './http/callbacks';
import { checkoutPages } from './http/checkout-pages';
import { createProvider } from './http/provider';
import { joinLoops, type Loop } from './loop';
import { measureNetworks, measureNodes, type NodeObserver } from './metrics';
import { type Network, type PayoutRules, type SignerSettings, WALLET_MODES } from './networks';
import { isDenied } from './sender/denylist';
import { noteDatabase } from './sender/older-database';
import { startSenders } from './sender/senders';
import { isLostAddress, type OrderRules, type Transfer } from './sender/transfers';
import type { OpenSigner } from './signer/open';

export interface Wallet {
  /** `http://127.0.0.1:3002`: the base URL of the gateway's on-chain provider. */
  url: string;
  stop(): Promise<void>;
}

export interface WalletParts {
  openSigner: (settings: SignerSettings) => OpenSigner | Promise<OpenSigner>;
  /** What the process tells Prometheus. */
  registry?: Registry;
  /** Runs the sweeps until it is stopped: by workflows (durable/workers.ts). */
  sweep?: (parts: DurableParts) => { stop(): Promise<void> };
}

/** @throws SetupError when the configuration does not fit the database or a chain */
export async function startWallet(config: WalletConfig, parts: WalletParts): Promise<Wallet> {
  if (config.databaseOwnerUrl !== null) await migrateWallet(config.databaseOwnerUrl);
  const db = new Database(config.databaseUrl);
  // The parts stand in the order of the start, and stop in the reverse order.
  const running: { stop(): Promise<void> }[] = [{ stop: () => db.destroy() }];
  const stop = async (): Promise<void> => {
    for (const part of running.splice(0).reverse()) await part.stop();
  };
  const registry = parts.registry ?? new Registry();
  try {
    await requireMigrations(db);
    await requireFollowed(db, config.networks);
    const modes = WALLET_MODES.filter((mode) => config.xpubs[mode] !== null);
    await skipAfterRestore(db, modes, await readIdentity(db));
    await noteDatabase(db);
    measureNetworks(registry, db, config.networks);
    const chains = await openChains(config, measureNodes(registry));
    running.push(startCallbacks(db, config));
    let publicUrl = config.publicUrl ?? '';
    const pageUrl = (id: string): string => `${publicUrl}/checkout/${id}`;
    const checkouts = createCheckoutParts(config, db, pageUrl);
    const drivers = new Map<string, Loop>();
    const idle: DriverParts[] = [];
    const ownAddresses = new Set<Address>();
    for (const chain of chains) {
      const { network } = chain;
      const loops: (() => Loop)[] = [];
      if (network.payouts !== null) {
        const signers = await openSigners(parts, network, network.payouts, running);
        for (const { address } of signers) ownAddresses.add(address);
        loops.push(() => startSenders(db, chain, signers, config.log));
      }
      await ensurePlace(db, chain).catch(notReady(config.log, network));
      loops.push(createFollowing(config, db, chain, pageUrl));
      const compareSums = createSumsCheck(config, db, chain);
      if (compareSums !== null) loops.push(compareSums);
      idle.push({ network, db, log: config.log, loops });
    }
    const rules = orderRules(db, config.networks, ownAddresses);
    const onQueued = ({ mode, network }: Transfer): void => {
      drivers.get(nameOf({ mode, name: network }))?.wake();
    };
    const { host, port, credentials, log } = config;
    const onError = (error: Error): void => {
      log('error', 'request failed', { error: error.message });
    };
    const provider = createProvider({ checkouts, chains, rules, onQueued });
    const server = await listen({ host, port, onError }, [
      onchainApi({ prefix: '/v1', credentials, provider }),
      checkoutPages(checkouts),
    ]);
    running.push({ stop: () => server.stop() });
    publicUrl = config.publicUrl ?? server.url;
    running.push(
      ...startDepositWork(config, db, { db, rules, onQueued, pageUrl, log: config.log }),
    );
    for (const driven of idle) drivers.set(nameOf(driven.network), driveChain(driven));
    running.push(joinLoops([...drivers.values()]));
    if (parts.sweep !== undefined) running.push(parts.sweep({ db, log: config.log, chains }));
    return { url: server.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws SetupError when payouts of a network have not ended, and nobody would follow them */
async function requireFollowed(db: Database, networks: readonly Network[]): Promise<void> {
  const sending = networks.filter(({ payouts }) => payouts !== null);
  const [left] = await db.query<{ network: string; mode: string; chainId: string; count: number }>(
    `SELECT network, mode, chain_id AS "chainId", count(*)::int AS count FROM wallet.transfer
     WHERE id IN (
       SELECT id FROM wallet.transfer WHERE chain_id <> ALL($1::bigint[]) AND status = 'queued'
       UNION
       SELECT transfer_id FROM wallet.slot WHERE chain_id <> ALL($1::bigint[]) AND state = 'open')
     GROUP BY network, mode, chain_id LIMIT 1`,
    [sending.map(({ chainId }) => chainId)],
  );
  if (left === undefined) return;
  throw new SetupError(
    `${left.count} payouts on ${left.network} (${left.mode} mode, chain ${left.chainId}) have not ended, and WALLET_NETWORKS_FILE has no payouts for it: nobody would follow them. Put the payouts of the network back, and remove them when \`wallet status\` shows 0 queued and 0 in flight.`,
  );
}

/** @throws SetupError when two hot wallets of the network are one */
async function openSigners(
  { openSigner }: WalletParts,
  { name }: Network,
  { signers }: PayoutRules,
  running: { stop(): Promise<void> }[],
): Promise<OpenSigner[]> {
  const opened: OpenSigner[] = [];
  for (const settings of signers) {
    const signer = await openSigner(settings);
    running.push({ stop: async () => signer.close?.() });
    if (opened.some(({ address }) => address === signer.address)) {
      throw new SetupError(
        `The network ${name} names the hot wallet ${signer.address} twice. Give each entry of payouts.signers a key of its own.`,
      );
    }
    opened.push(signer);
  }
  return opened;
}

/** Whoever works on the chain tries again; until then, no checkout is opened. */
function notReady(log: Log, { mode, name }: Network): (error: unknown) => void {
  return (error) => {
    const message = 'no checkout is opened on the network until a node answers';
    log('warn', message, { mode, network: name, error: errorText(error) });
  };
}

/** A network's name is unique within its mode. */
function nameOf({ mode, name }: Pick<Network, 'mode' | 'name'>): string {
  return `${mode} ${name}`;
}

function orderRules(
  db: Database,
  networks: readonly Network[],
  ownAddresses: ReadonlySet<Address>,
): OrderRules {
  return {
    networks,
    isRefused: async (network, destination) =>
      isLostAddress(network, destination) ||
      ownAddresses.has(destination) ||
      (await isDenied(db, destination)),
  };
}

async function openChains(config: WalletConfig, observe: NodeObserver): Promise<Chain[]> {
  const chains = config.networks.map((network) => createChain(network, observe(network)));
  await Promise.all(
    chains.map(async (chain) => {
      if (await verifyChain(chain)) return;
      const { mode, name } = chain.network;
      config.log('warn', 'no node of the network answers', { mode, network: name });
    }),
  );
  return chains;
}
