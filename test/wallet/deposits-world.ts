/**
 * A wallet on a chain and a database of its own, as the gateway's adapter and a customer see it. The
 * followers take their steps when a test says so, or by themselves.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Address } from 'viem';
import { HDKey } from 'viem/accounts';
import { amount as toAmount } from '../../src/domain/money';
import { databaseUrl, withClient } from '../../src/db/provision';
import type { Checkout, CheckoutOrder, CheckoutResult, Provider } from '../../src/providers/port';
import { createProviders, type ProviderRegistry } from '../../src/providers/registry';
import { createAlarms } from '../../src/wallet/alarms';
import { createChain } from '../../src/wallet/chain/chain';
import { screenPending, type Screen } from '../../src/wallet/checkouts/screening';
import type { CheckoutParts } from '../../src/wallet/checkouts/steps';
import { connectDatabase, type Database } from '../../src/wallet/db/database';
import { ensureWalletLogin, migrateWallet } from '../../src/wallet/db/migrate';
import type { WalletConfig } from '../../src/wallet/config';
import { createCheckoutParts } from '../../src/wallet/deposits';
import { Follower } from '../../src/wallet/follower/follower';
import { WatchList } from '../../src/wallet/follower/watch-list';
import type { Network } from '../../src/wallet/networks';
import type { TestChain, TestToken } from '../support/chain';

export const API_KEY = 'wallet-test-key';
export const CALLBACK_SECRET = 'wallet-test-secret';

/** The account key of a seed that only tests have. */
export const TEST_ACCOUNT = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'");

export interface WalletDatabase {
  url: string;
  ownerUrl: string;
  drop: () => Promise<void>;
}

export async function createWalletDatabase(): Promise<WalletDatabase> {
  const server = process.env['TEST_POSTGRES_URL'] ?? '';
  const database = `wallet_${Math.random().toString(36).slice(2, 12)}`;
  await withClient(server, (client) => client.query(`create database ${database}`));
  const ownerUrl = databaseUrl(server, { database });
  await migrateWallet(ownerUrl);
  const login = { user: 'wallet_test', password: 'wallet-test' };
  await ensureWalletLogin(ownerUrl, login);
  return {
    url: databaseUrl(ownerUrl, login),
    ownerUrl,
    drop: async () => {
      await withClient(server, (client) => client.query(`drop database ${database} with (force)`));
    },
  };
}

export function networkOf(chain: TestChain, changes: Partial<Network> = {}): Network {
  const { USDC, USDT, DAI } = chain.tokens;
  const token = (asset: string, { address, decimals }: TestToken) => ({ asset, address, decimals });
  return {
    ...{ mode: 'test', name: 'ethereum', chainId: chain.chainId, rpcUrls: [chain.url] },
    ...{ finality: 'finalized', pollMs: 50, native: { asset: 'ETH' } },
    tokens: [token('USDC', USDC), token('USDT', USDT), token('DAI', DAI)],
    deposits: {
      safeBelow: { USDC: toAmount('100'), USDT: toAmount('100'), ETH: toAmount('1') },
      dust: { USDC: toAmount('0.01'), ETH: toAmount('0.00001') },
    },
    payouts: null,
    ...changes,
  };
}

export function walletConfig(
  network: Network,
  database: WalletDatabase,
  changes: Partial<WalletConfig> = {},
): WalletConfig {
  return {
    ...{ host: '127.0.0.1', port: 0, publicUrl: null, callbackBaseUrl: null, screening: null },
    ...{ databaseUrl: database.url, databaseOwnerUrl: null, networks: [network] },
    credentials: { test: { apiKey: API_KEY, callbackSecret: CALLBACK_SECRET }, live: null },
    xpubs: { test: TEST_ACCOUNT.publicExtendedKey, live: null },
    log: () => undefined,
    ...changes,
  };
}

/** The gateway's real adapter, and how to end its connections. */
export function openAdapter(url: string): { provider: Provider; registry: ProviderRegistry } {
  const registry = createProviders({
    onchain_provider: {
      test: { baseUrl: url, apiKey: API_KEY, callbackSecret: CALLBACK_SECRET, timeoutMs: 10_000 },
      live: null,
    },
    exchange_pay: { test: null, live: null },
  });
  return { provider: registry.get('onchain_provider', 'test'), registry };
}

let orders = 0;

export function buildOrder(changes: Partial<CheckoutOrder> = {}): CheckoutOrder {
  orders += 1;
  return {
    reference: `pay_${String(Date.now())}_${String(orders)}`,
    ...{ amount: toAmount('25.5'), currency: 'USDC', network: 'ethereum' },
    expiresAt: new Date(Date.now() + 3_600_000),
    ...{ successUrl: null, cancelUrl: null, description: null, scenario: null },
    ...changes,
  };
}

/** @throws when the provider did not answer with a checkout */
export function foundCheckout(result: CheckoutResult): Checkout {
  if (result.kind === 'found') return result.checkout;
  throw new Error(`no checkout: ${JSON.stringify(result)}`);
}

export interface Gateway {
  url: string;
  received: { headers: Record<string, string | string[] | undefined>; body: Buffer }[];
  close: () => Promise<void>;
}

/** Takes callbacks and keeps them. */
export async function startCallbackReceiver(): Promise<Gateway> {
  const received: Gateway['received'] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body: Buffer.from(body) });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Follower and screening without a clock: `follow` reads until there is nothing more. */
export interface DepositsWorld {
  chain: TestChain;
  database: WalletDatabase;
  db: Database;
  network: Network;
  parts: CheckoutParts;
  follower: Follower;
  logged: { level: string; message: string; fields?: Record<string, unknown> }[];
  follow: () => Promise<void>;
  screenWith: (screen: Screen | null) => void;
  /** A second follower, as after a restart. */
  restart: () => void;
  close: () => Promise<void>;
}

export async function createDepositsWorld(
  chain: TestChain,
  changes: Partial<Network> = {},
): Promise<DepositsWorld> {
  const database = await createWalletDatabase();
  const db = connectDatabase(database.url);
  const network = networkOf(chain, changes);
  const logged: DepositsWorld['logged'] = [];
  const log: WalletConfig['log'] = (level, message, fields) => {
    logged.push({ level, message, ...(fields === undefined ? {} : { fields }) });
  };
  const pageUrl = (id: string) => `http://wallet.test/checkout/${id}`;
  const parts = createCheckoutParts(walletConfig(network, database), db, pageUrl);
  let screen: Screen | null = null;
  const startFollower = (): Follower => {
    const walletChain = createChain(network, { timeoutMs: 2_000 });
    const alarms = createAlarms(db, walletChain, log);
    return new Follower({
      ...{ chain: walletChain, chainId: network.chainId, rules: network.deposits, db, alarms, log },
      ...{ watched: new WatchList(db, 'test'), pageUrl, balancesEveryMs: 0 },
    });
  };
  const world: DepositsWorld = {
    ...{ chain, database, db, network, parts, logged },
    follower: startFollower(),
    follow: async () => {
      // Read, screen, and confirm what the screening released.
      for (let round = 0; round < 2; round += 1) {
        while ((await world.follower.step()) === 'more');
        while ((await screenPending({ db, screen, pageUrl, log })) === 'more');
      }
      while ((await world.follower.step()) === 'more');
    },
    screenWith: (next) => {
      screen = next;
    },
    restart: () => {
      world.follower = startFollower();
    },
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
  await world.follow();
  return world;
}

/** Somebody who pays, who is neither the shop nor the deployer. */
export async function pay(
  chain: TestChain,
  token: TestToken | null,
  to: Address,
  units: bigint,
): Promise<string> {
  const payer = chain.accounts[5]!;
  if (token === null) return chain.send(to, units, payer);
  await chain.mint(token, payer, units);
  return chain.transferToken(token, payer, to, units);
}
