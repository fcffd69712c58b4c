/**
 * Builds and starts the wallet: one EVM rail behind the on-chain provider's HTTP API. Started by
 * src/bin/wallet.ts as a process, and by tests in theirs.
 */
import type { Chain } from './chain/chain';
import { createChain, verifyChain } from './chain/chain';
import type { WalletConfig } from './config';
import { connectDatabase } from './db/database';
import { migrateWallet, requireMigrations } from './db/migrate';
import { startCallbacks } from './http/callbacks';
import { startHttpServer } from './http/server';

export interface Wallet {
  /** `http://127.0.0.1:3002`: the base URL of the gateway's on-chain provider. */
  url: string;
  stop(): Promise<void>;
}

export async function startWallet(config: WalletConfig): Promise<Wallet> {
  if (config.databaseOwnerUrl !== null) await migrateWallet(config.databaseOwnerUrl);
  const db = connectDatabase(config.databaseUrl);
  // In the order of the start; they stop in the reverse order.
  const parts: { stop(): Promise<void> }[] = [{ stop: () => db.close() }];
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).reverse()) await part.stop();
  };
  try {
    await requireMigrations(db);
    await openChains(config);
    parts.push(startCallbacks(db, config));
    const server = await startHttpServer(config, { api: [], pages: [] });
    parts.push(server);
    return { url: server.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openChains(config: WalletConfig): Promise<Chain[]> {
  const chains = config.networks.map((network) => createChain(network));
  await Promise.all(
    chains.map(async (chain) => {
      if (await verifyChain(chain)) return;
      const { mode, name } = chain.network;
      config.log('warn', 'no node of the network answers', { mode, network: name });
    }),
  );
  return chains;
}
