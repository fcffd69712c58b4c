/**
 * The wallet of `npm start -- --chain`: its key, its networks file, its login at the database. The
 * wallet itself is a process of its own (src/bin/wallet.ts).
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, getAddress } from 'viem';
import { databaseUrl } from '../../db/provision';
import { type DataLayout, writePrivateJson } from '../../platform/lib/data-folder';
import { SetupError } from '../../platform/lib/setup-error';
import { ensureWalletLogin, migrateWallet } from '../../rails/wallet/db/migrate';
import { createDepositKey } from '../../rails/wallet/signer/deposit-key';
import { createKeystore } from '../../rails/wallet/signer/keystore';
import type { ChainSettings } from './local-chain';

const WALLET_LOGIN = 'gateway_wallet_1';

/** The price is used for estimates of network fees only. */
const NATIVE_PRICE_USD = '3000';

export interface WalletFiles {
  networks: string;
  /** The hot wallet. */
  address: Address;
  /** The public half of the deposit addresses' key, which only sweeps need. */
  xpub: string;
}

/** Makes the hot wallet's key at the first start, and writes the networks file at each one. */
export function prepareWalletFiles(layout: DataLayout, chain: ChainSettings): WalletFiles {
  const password = join(layout.chain, 'hot-wallet.password');
  const keystore = join(layout.chain, 'hot-wallet.json');
  if (!existsSync(password)) {
    writeFileSync(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  }
  const address = existsSync(keystore)
    ? getAddress(`0x${readMember(keystore, 'address')}`)
    : createKeystore({ keystore, password });
  const deposits = join(layout.chain, 'deposit-key.json');
  const xpub = existsSync(deposits)
    ? readMember(deposits, 'xpub')
    : createDepositKey({ keystore: deposits, password });
  const networks = join(layout.chain, 'networks.json');
  writePrivateJson(networks, { networks: [describeNetwork(chain, { keystore, password })] });
  return { networks, address, xpub };
}

function readMember(path: string, name: string): string {
  const { [name]: value } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  if (value === undefined) throw new SetupError(`${path} has no ${name}.`);
  return value;
}

function describeNetwork(
  { network, mode, chain_id, rpc_url, tokens }: ChainSettings,
  files: { keystore: string; password: string },
): Record<string, unknown> {
  const limit = { hour: '1000000', day: '1000000' };
  const assets = ['ETH', ...Object.keys(tokens)];
  const ofTokens = (value: string) =>
    Object.fromEntries(Object.keys(tokens).map((asset) => [asset, value]));
  return {
    mode,
    name: network,
    chain_id,
    rpc_urls: [rpc_url],
    native: { asset: 'ETH' },
    tokens: Object.entries(tokens).map(([asset, token]) => ({ asset, ...token })),
    payouts: {
      signer: { kind: 'keystore', file: files.keystore, password_file: files.password },
      float_minimum: { ETH: '1', ...ofTokens('1000') },
      limits: Object.fromEntries(assets.map((asset) => [asset, limit])),
      native_prices: ofTokens(NATIVE_PRICE_USD),
    },
  };
}

/** @returns the wallet's own connection */
export async function prepareWalletDatabase(ownerUrl: string, password: string): Promise<string> {
  await migrateWallet(ownerUrl);
  const login = { user: WALLET_LOGIN, password };
  await ensureWalletLogin(ownerUrl, login);
  return databaseUrl(ownerUrl, login);
}
