/**
 * Builds and starts the wallet: one EVM rail behind the on-chain provider's HTTP API. Started by
 * src/bin/wallet.ts as a process, and by tests in theirs.
 */
import { Registry } from 'prom-client';
import type { Address } from 'viem';
import { type Chain, createChain, verifyChain } from './chain/chain';
import type { WalletConfig } from './config';
import { connectDatabase, type Database } from './db/database';
import { migrateWallet, requireMigrations } from './db/migrate';
import { createCheckoutParts, startDeposits } from './deposits';
import { startCallbacks } from './http/callbacks';
import { addCheckouts } from './http/checkouts';
import { startHttpServer } from './http/server';
import { addTransfers } from './http/transfers';
import type { Loop } from './loop';
import { measureNetworks, measureNodes, type NodeObserver } from './metrics';
import type { Network, SignerSettings } from './networks';
import { isDenied } from './sender/control';
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
    measureNetworks(registry, db, config.networks);
    const chains = await openChains(config, measureNodes(registry));
    running.push(startCallbacks(db, config));
    let publicUrl = config.publicUrl ?? '';
    const pageUrl = (id: string): string => `${publicUrl}/checkout/${id}`;
    const checkouts = createCheckoutParts(config, db, pageUrl);
    const senders = new Map<string, Loop>();
    const ownAddresses = new Set<Address>();
    for (const chain of chains) {
      if (chain.network.payouts === null) continue;
      const signer = await parts.openSigner(chain.network.payouts.signer);
      running.push({ stop: async () => signer.close?.() });
      ownAddresses.add(signer.address);
      const sender = startSender(db, chain, signer, config.log);
      senders.set(nameOf(chain.network), sender);
      running.push(sender);
    }
    const rules = orderRules(db, config.networks, ownAddresses);
    const onQueued = ({ mode, network }: Transfer): void => {
      senders.get(nameOf({ mode, name: network }))?.wake();
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
      ...startDeposits(config, db, chains, { db, rules, onQueued, pageUrl, log: config.log }),
    );
    return { url: server.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
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
