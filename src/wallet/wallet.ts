/**
 * Builds and starts the wallet: one EVM rail behind the on-chain provider's HTTP API. Started by
 * src/bin/wallet.ts as a process, and by tests in theirs.
 */
import { Registry } from 'prom-client';
import type { Address } from 'viem';
import { skipAddresses } from './addresses/skip-addresses';
import { type Chain, createChain, verifyChain } from './chain/chain';
import { errorText } from '../lib/command-line';
import type { Log, WalletConfig } from './config';
import { connectDatabase, type Database } from './db/database';
import { migrateWallet, requireMigrations } from './db/migrate';
import {
  createCheckoutParts,
  createFollowing,
  createSumsCheck,
  startDepositWork,
} from './deposits';
import { type ChainRun, createChainRun } from './durable/chain-run';
import type { DurableParts } from './durable/workers';
import { ensurePlace } from './follower/follower';
import { startCallbacks } from './http/callbacks';
import { addCheckouts } from './http/checkouts';
import { startHttpServer } from './http/server';
import { addTransfers } from './http/transfers';
import type { Loop } from './loop';
import { measureNetworks, measureNodes, type NodeObserver } from './metrics';
import { type Network, type SignerSettings, WALLET_MODES } from './networks';
import { isDenied } from './sender/denylist';
import { startReplacedSigners } from './sender/replaced';
import { startSender } from './sender/sender';
import { checkoutPages } from './page/routes';
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
  /** Runs the chains until it is stopped: by workflows (durable/workers.ts). */
  drive: (parts: DurableParts) => { stop(): Promise<void> };
}

/** @throws SetupError when the configuration does not fit the database or a chain */
export async function startWallet(config: WalletConfig, parts: WalletParts): Promise<Wallet> {
  if (config.databaseOwnerUrl !== null) await migrateWallet(config.databaseOwnerUrl);
  const db = connectDatabase(config.databaseUrl);
  // In the order of the start; they stop in the reverse order.
  const running: { stop(): Promise<void> }[] = [{ stop: () => db.close() }];
  const stop = async (): Promise<void> => {
    for (const part of running.splice(0).reverse()) await part.stop();
  };
  const registry = parts.registry ?? new Registry();
  try {
    await requireMigrations(db);
    for (const mode of WALLET_MODES) {
      if (config.xpubs[mode] !== null) await skipAddresses(db, mode);
    }
    measureNetworks(registry, db, config.networks);
    const chains = await openChains(config, measureNodes(registry));
    running.push(startCallbacks(db, config));
    let publicUrl = config.publicUrl ?? '';
    const pageUrl = (id: string): string => `${publicUrl}/checkout/${id}`;
    const checkouts = createCheckoutParts(config, db, pageUrl);
    const runs = new Map<string, ChainRun>();
    const ownAddresses = new Set<Address>();
    for (const chain of chains) {
      const { network } = chain;
      const loops: (() => Loop)[] = [];
      if (network.payouts !== null) {
        const signer = await parts.openSigner(network.payouts.signer);
        running.push({ stop: async () => signer.close?.() });
        ownAddresses.add(signer.address);
        const rules = network.payouts;
        loops.push(() => startSender(db, chain, signer, config.log));
        loops.push(() => startReplacedSigners(db, chain, rules, config.log));
      }
      const follow = createFollowing(config, db, chain, pageUrl);
      if (follow !== null) await ensurePlace(db, chain).catch(notReady(config.log, network));
      const compareSums = createSumsCheck(config, db, chain);
      for (const start of [follow, compareSums]) if (start !== null) loops.push(start);
      runs.set(nameOf(network), createChainRun({ network, db, log: config.log, loops }));
    }
    const rules = orderRules(db, config.networks, ownAddresses);
    const onQueued = ({ mode, network }: Transfer): void => {
      runs.get(nameOf({ mode, name: network }))?.wake();
    };
    const server = await startHttpServer(config, {
      api: [
        addCheckouts(checkouts),
        (router) => {
          addTransfers(router, { db, chains, rules, onQueued });
        },
      ],
      pages: [checkoutPages({ ...checkouts, isRefused: rules.isRefused })],
    });
    running.push(server);
    publicUrl = config.publicUrl ?? server.url;
    running.push(
      ...startDepositWork(config, db, { db, rules, onQueued, pageUrl, log: config.log }),
    );
    const driven = chains.flatMap((chain) => {
      const run = runs.get(nameOf(chain.network));
      return run === undefined ? [] : [{ chain, run }];
    });
    running.push(parts.drive({ db, log: config.log, chains: driven }));
    return { url: server.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
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
