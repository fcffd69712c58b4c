/**
 * A gateway whose on-chain provider in test mode is the wallet as a program of its own, on a chain
 * of the test's own.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keystore } from 'ox';
import { createChain } from '../../../src/rails/wallet/chain/chain';
import { runWalletCommand } from '../../../src/rails/wallet/commands';
import { Database } from '../../../src/rails/wallet/db/database';
import { readNetworksFile } from '../../../src/rails/wallet/networks';
import { type AssetSums, readSums } from '../../../src/rails/wallet/sums';
import { startChain, type TestChain } from './chain';
import { ChildProgram } from '../servers/child-program';
import { findFreePort } from '../../../src/dev/ports';
import { type OwnGateway, startGateway } from '../servers/gateway';
import { createWalletDatabase } from '../servers/database';
import { createTestSigner, DEPOSIT_ACCOUNT, fillFloat, WALLET_KEYS } from './wallet';

/** What the wallet's program needs. It does not run. */
export interface PreparedWallet {
  chain: TestChain;
  /** The hot wallet. */
  signer: ReturnType<typeof createTestSigner>;
  /** With the wallet's own login. */
  db: Database;
  /** The gateway's settings for its on-chain provider in test mode. */
  providerEnv: Record<string, string>;
  /** The program's settings beside a gateway's. */
  env: (gateway: OwnGateway) => NodeJS.ProcessEnv;
  /** What `wallet status` shows; none while the chain has not been read. */
  sums: () => Promise<AssetSums[]>;
  /** What `npm run wallet -- …` prints. */
  command: (...args: string[]) => Promise<string>;
  stop: () => Promise<void>;
}

export interface GatewayWithWallet extends PreparedWallet {
  gateway: OwnGateway;
  wallet: ChildProgram;
}

export interface WalletOptions {
  /** The nodes that the wallet asks, from the URL of the chain's node. */
  rpcUrls?: (node: URL) => string[] | Promise<string[]>;
  pollMs?: number;
  /** The secrets that it shares with the gateway. */
  keys?: { apiKey: string; callbackSecret: string };
  keystorePassword?: string;
}

/**
 * @param options.env settings of all programs
 */
export async function startGatewayWithWallet({
  env = {},
  ...options
}: WalletOptions & {
  env?: Record<string, string>;
} = {}): Promise<GatewayWithWallet> {
  const prepared = await prepareWallet(options);
  const gateway = await startGateway({
    env: { ...prepared.providerEnv, ...env },
    providerTimeoutMs: 5_000,
  });
  const wallet = new ChildProgram('wallet', { ...gateway.env, ...prepared.env(gateway) });
  await wallet.start();
  return {
    ...prepared,
    gateway,
    wallet,
    stop: async () => {
      await wallet.stop();
      await gateway.stop();
      await prepared.stop();
    },
  };
}

export async function prepareWallet({
  rpcUrls = ({ href }) => [href],
  pollMs = 50,
  keys = WALLET_KEYS,
  keystorePassword = 'a password of the test',
}: WalletOptions = {}): Promise<PreparedWallet> {
  const [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
  await chain.finalize();
  const signer = createTestSigner();
  await fillFloat(chain, signer.address);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-wallet-'));
  const node = { poll_ms: pollMs, rpc_urls: await rpcUrls(new URL(chain.url)) };
  const networksFile = writeNetworks(
    folder,
    chain,
    writeKeystore(folder, signer, keystorePassword),
    node,
  );
  const port = await findFreePort();
  const settings = {
    GATEWAY_ENV: 'development',
    WALLET_DATABASE_URL: database.url,
    WALLET_NETWORKS_FILE: networksFile,
  };
  const db = new Database(database.url, { size: 2 });
  return {
    ...{ chain, signer, db },
    providerEnv: {
      ONCHAIN_TEST_URL: `http://127.0.0.1:${String(port)}`,
      ONCHAIN_TEST_API_KEY: keys.apiKey,
      ONCHAIN_TEST_CALLBACK_SECRET: keys.callbackSecret,
    },
    env: (gateway) => ({
      ...{ ...settings, WALLET_PORT: String(port) },
      WALLET_TEST_XPUB: DEPOSIT_ACCOUNT.publicExtendedKey,
      WALLET_CALLBACK_BASE_URL: gateway.baseUrl.replace('/api/v1', ''),
      WALLET_WORKFLOW_BUNDLE: process.env['TEST_WALLET_WORKFLOW_BUNDLE'],
    }),
    sums: async () => {
      const [network] = readNetworksFile(networksFile, { isDevelopment: true });
      return (await readSums(db, createChain(network!))) ?? [];
    },
    command: async (...args) => {
      let text = '';
      const write = (words: string): void => void (text += words);
      await runWalletCommand(args, { env: settings, out: write, err: write });
      return text;
    },
    stop: async () => {
      await db.destroy();
      await Promise.all([chain.stop(), database.drop()]);
      rmSync(folder, { recursive: true });
    },
  };
}

function writeKeystore(
  folder: string,
  { privateKey }: PreparedWallet['signer'],
  password: string,
): { kind: string; file: string; password_file: string } {
  const [file, passwordFile] = [join(folder, 'key.json'), join(folder, 'password')];
  writeFileSync(passwordFile, password);
  // Weak, because each start of the program derives the key.
  const [key, options] = Keystore.scrypt({ password, n: 1_024 });
  writeFileSync(file, JSON.stringify(Keystore.encrypt(privateKey, key, options)));
  return { kind: 'keystore', file, password_file: passwordFile };
}

/** @returns the path of the file of networks */
function writeNetworks(
  folder: string,
  chain: TestChain,
  signer: ReturnType<typeof writeKeystore>,
  node: { poll_ms: number; rpc_urls: string[] },
): string {
  const network = {
    ...{ mode: 'test', name: 'ethereum', chain_id: chain.chainId, ...node },
    native: { asset: 'ETH' },
    tokens: [{ asset: 'USDC', address: chain.tokens.USDC.address, decimals: 6 }],
    // Some payments of the tests are below it.
    deposits: { safe_below: { USDC: '5' }, dust: { USDC: '0.01' } },
    payouts: {
      signer,
      limits: { USDC: { hour: '1000000', day: '1000000' } },
      float_minimum: { USDC: '1' },
      ...{ native_prices: { USDC: '3000' }, resend_after_seconds: 1 },
    },
  };
  const path = join(folder, 'networks.json');
  writeFileSync(path, JSON.stringify({ networks: [network] }));
  return path;
}
