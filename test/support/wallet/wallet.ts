/**
 * A wallet in the test's process, on a chain and a database of the test's own, as the gateway's own
 * adapter calls it. `test/support/wallet/chain.ts` plays what happens to the chain.
 */
import { randomBytes } from 'node:crypto';
import { HDKey, privateKeyToAccount } from 'viem/accounts';
import type { Address, Hex } from 'viem';
import { amount } from '../../../src/domain/money';
import { ONCHAIN } from '../../../src/adapters/providers/onchain/adapter';
import type { Provider } from '../../../src/adapters/providers/port';
import {
  createProviderAgent,
  createProviderCaller,
} from '../../../src/adapters/providers/provider-http';
import type { WalletConfig } from '../../../src/rails/wallet/config';
import { Database } from '../../../src/rails/wallet/db/database';
import type { WalletDatabase } from '../servers/database';
import type { Network, PayoutRules, SignerSettings } from '../../../src/rails/wallet/networks';
import type { Signer } from '../../../src/rails/wallet/signer/port';
import { startWallet, type Wallet, type WalletParts } from '../../../src/rails/wallet/wallet';
import type { TestChain } from './chain';

export const WALLET_KEYS = {
  apiKey: 'wallet-test-key',
  callbackSecret: 'wallet-test-secret',
} as const;
/** The account key of the deposit addresses; only its public half is the wallet's. */
export const DEPOSIT_ACCOUNT = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive(
  "m/44'/60'/0'",
);

/** A new account whose key the test holds. */
export function createTestSigner(privateKey?: Hex): Signer & { privateKey: Hex } {
  const key: Hex = privateKey ?? `0x${randomBytes(32).toString('hex')}`;
  const account = privateKeyToAccount(key);
  return {
    privateKey: key,
    address: account.address,
    sign: (transaction) => account.signTransaction(transaction),
  };
}

/** What stands for a signer of the test in the settings: its place in the list. */
export function testSigner(place: number): SignerSettings {
  return { kind: 'keystore', file: String(place), passwordFile: '' };
}

/** Quick, and with limits that no test meets unless it sets them. */
export function testNetwork(
  chain: Pick<TestChain, 'url' | 'chainId' | 'tokens'>,
  changes: Partial<Omit<Network, 'payouts'>> & { payouts?: Partial<PayoutRules> } = {},
): Network {
  const plenty = { hour: amount('1000000000'), day: amount('1000000000') };
  const { payouts, ...others } = changes;
  const names = ['USDC', 'USDT', 'DAI', 'FALSE'] as const;
  return {
    mode: 'test',
    name: 'ethereum',
    chainId: chain.chainId,
    rpcUrls: [chain.url],
    finality: 'finalized',
    pollMs: 50,
    rpcTimeoutMs: 2_000,
    native: { asset: 'ETH' },
    tokens: names.map((asset) => ({
      asset,
      address: chain.tokens[asset].address,
      decimals: chain.tokens[asset].decimals,
    })),
    deposits: {
      safeBelow: { USDC: amount('100'), USDT: amount('100'), ETH: amount('1') },
      dust: { USDC: amount('0.01'), ETH: amount('0.00001') },
    },
    payouts: {
      // Not read: the tests give the signers.
      signers: [testSigner(0)],
      floatMinimum: {},
      limits: { ETH: plenty, USDC: plenty, USDT: plenty, DAI: plenty, FALSE: plenty },
      nativePrices: { USDC: amount('3000'), USDT: amount('3000') },
      maxFeePerGasWei: 500n * 10n ** 9n,
      priorityFeePerGasWei: 10n ** 9n,
      gasMax: 1_000_000n,
      replaceAfterMs: 600_000,
      resendAfterMs: 600_000,
      inFlightMax: 16,
      ...payouts,
    },
    ...others,
  };
}

export interface TestWallet {
  wallet: Wallet;
  /** The database with the wallet's own login. */
  db: Database;
  signer: Signer;
  /** The gateway's adapter, unchanged. */
  provider: Provider;
  stop: () => Promise<void>;
}

export async function startTestWallet(options: {
  networks: readonly Network[];
  signer: Signer;
  /** All of them, in networks with several hot wallets. */
  signers?: readonly Signer[];
  database: WalletDatabase;
  /** False: it takes no deposits. */
  hasDeposits?: boolean;
  callbackBaseUrl?: string | null;
  /** By default from `signers`. */
  openSigner?: WalletParts['openSigner'];
  /** By default nothing runs sweeps. */
  sweep?: WalletParts['sweep'];
}): Promise<TestWallet> {
  const { networks, signer, database, callbackBaseUrl = null, sweep } = options;
  const xpub = options.hasDeposits === false ? null : DEPOSIT_ACCOUNT.publicExtendedKey;
  const { signers = [signer] } = options;
  const pick: WalletParts['openSigner'] = (settings) =>
    (settings.kind === 'keystore' ? signers[Number(settings.file)] : undefined) ?? signer;
  const { openSigner = pick } = options;
  const config: WalletConfig = {
    ...{ host: '127.0.0.1', port: 0, publicUrl: null, databaseUrl: database.url },
    ...{ databaseOwnerUrl: null, callbackBaseUrl, networks },
    credentials: { test: WALLET_KEYS, live: null },
    ...{ xpubs: { test: xpub, live: null }, screening: null },
    log: (level, message, fields) => {
      if (process.env['WALLET_TEST_LOG'] !== undefined) console.log(level, message, fields);
    },
  };
  const wallet = await startWallet(config, {
    openSigner,
    ...(sweep === undefined ? {} : { sweep }),
  });
  const db = new Database(database.url, { size: 2 });
  const agent = createProviderAgent();
  const provider = ONCHAIN.create(
    { baseUrl: wallet.url, ...WALLET_KEYS, timeoutMs: 8_000 },
    createProviderCaller(agent, 8_000),
  );
  return {
    ...{ wallet, db, signer, provider },
    stop: async () => {
      await wallet.stop();
      await db.destroy();
      await agent.close();
    },
  };
}

/** Coins for fees, and tokens. */
export async function fillFloat(
  chain: TestChain,
  address: Address,
  { coins = 100n * 10n ** 18n, tokens = 1_000_000n * 10n ** 6n } = {},
): Promise<void> {
  await chain.setBalance(address, coins);
  for (const name of ['USDC', 'USDT', 'FALSE'] as const) {
    if (tokens > 0n) await chain.mint(chain.tokens[name], address, tokens);
  }
}
