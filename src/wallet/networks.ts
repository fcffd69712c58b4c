/**
 * Networks as data: one entry for each EVM chain and mode, in a JSON file. The file holds the RPC
 * URLs, which often contain an API key, so it is protected like a secret. Nothing here asks a node;
 * chain/verify.ts compares the entries with the chain at the start.
 */
import { readFileSync } from 'node:fs';
import type { Address } from 'viem';
import type { Amount } from '../domain/money';
import { SetupError } from '../lib/setup-error';
import { type Mode, MODES } from '../onchain-api/requests';
import {
  fieldsOf,
  list,
  perAsset,
  readAddress,
  readAsset,
  readPositive,
  readText,
  readUrl,
  readWhole,
  refuse,
  refuseRepeated,
} from './fields';

export const WALLET_MODES = MODES;
export type WalletMode = Mode;

export interface Token {
  /** The currency code of the gateway: USDT. */
  asset: string;
  address: Address;
  decimals: number;
}

export interface Network {
  mode: WalletMode;
  /** The gateway's name of the network: ethereum, base. */
  name: string;
  chainId: number;
  /** Asked in this order; the next one when a node does not answer. */
  rpcUrls: readonly string[];
  /** The chain's own `finalized` tag, or the number of confirmations on chains without it. */
  finality: 'finalized' | number;
  /** After this time without an answer the next node is asked. */
  rpcTimeoutMs: number;
  /** How often the chain is read. */
  pollMs: number;
  /** The native coin; all EVM chains count it in wei. */
  native: { asset: string };
  tokens: readonly Token[];
  deposits: DepositRules;
  payouts: PayoutRules | null;
}

export interface DepositRules {
  /** asset → a checkout below this amount is confirmed at `safe`; any other at `finalized`. */
  safeBelow: Readonly<Record<string, Amount>>;
  /** asset → smaller deposits are listed only together, once they are worth it. */
  dust: Readonly<Record<string, Amount>>;
}

/** Null in a network that only receives. */
export interface PayoutRules {
  /** One for each hot wallet; the transfers are spread over them. */
  signers: readonly SignerSettings[];
  /** asset → the balance of each hot wallet below which an alarm is raised. */
  floatMinimum: Readonly<Record<string, Amount>>;
  /**
   * asset → what each hot wallet may send in 60 minutes and in 24 hours. An asset without limits is
   * not sent.
   */
  limits: Readonly<Record<string, { hour: Amount; day: Amount }>>;
  /** token → the price of one native coin in it, for fee estimates. */
  nativePrices: Readonly<Record<string, Amount>>;
  maxFeePerGasWei: bigint;
  /** Null asks the node. */
  priorityFeePerGasWei: bigint | null;
  /** A payout that takes more fails: its recipient's contract decides what it costs. */
  gasMax: bigint;
  /** Age of an attempt that is not in a block, after which its fees are raised. */
  replaceAfterMs: number;
  /** Time after which a transaction that is not in a block is broadcast again. */
  resendAfterMs: number;
  /** Transactions of each hot wallet outside of blocks; nodes drop more than 16 of one account first. */
  inFlightMax: number;
}

/** What src/wallet/signer opens; its secrets are in files or on the other side of the URL. */
export type SignerSettings =
  | { kind: 'keystore'; file: string; passwordFile: string }
  | { kind: 'remote'; url: string; address: Address; tls: SignerTls };

/** Paths of PEM files: an authority of one's own, and a client certificate with its key. */
export interface SignerTls {
  caFile: string | null;
  certificateFile: string | null;
  keyFile: string | null;
}

interface Surroundings {
  /** One RPC URL is enough in development. */
  isDevelopment: boolean;
}

/** @throws SetupError that names the field and the remedy, never a value that may be a secret */
export function readNetworksFile(path: string, surroundings: Surroundings): Network[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new SetupError(
      `WALLET_NETWORKS_FILE: ${path} cannot be read (${code}). Set it to a file that this process may read.`,
    );
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new SetupError(`${path} is not valid JSON.`);
  }
  return readNetworks(content, path, surroundings);
}

/** @param where the start of every error, such as the path of the file */
export function readNetworks(
  content: unknown,
  where: string,
  { isDevelopment }: Surroundings,
): Network[] {
  const root = fieldsOf(content, where, ['networks']);
  const networks = list(root.networks, `${where}: networks`).map((entry, index) =>
    readNetwork(entry, `${where}: networks[${String(index)}]`, isDevelopment),
  );
  if (networks.length === 0) refuse(`${where}: networks`, 'must have at least one entry');
  refuseRepeated(
    networks.map(({ mode, name }) => `${mode} ${name}`),
    `${where}: networks`,
    'name',
  );
  // One chain in both modes would share nonces and addresses between test and live money.
  refuseRepeated(
    networks.map(({ chainId }) => String(chainId)),
    `${where}: networks`,
    'chain_id',
  );
  return networks;
}

const NETWORK_FIELDS = [
  ...[
    'mode',
    'name',
    'chain_id',
    'rpc_urls',
    'finality',
    'poll_ms',
    'rpc_timeout_ms',
    'native',
    'tokens',
    'deposits',
    'payouts',
  ],
] as const;
const RPC_URLS_MIN = 2;
const DEFAULT_POLL_MS = 1_000;
const DEFAULT_RPC_TIMEOUT_MS = 10_000;
const CONFIRMATIONS_MAX = 10_000;

function readNetwork(entry: unknown, at: string, isDevelopment: boolean): Network {
  const fields = fieldsOf(entry, at, NETWORK_FIELDS);
  const mode = WALLET_MODES.find((one) => one === fields.mode);
  if (mode === undefined) refuse(`${at}.mode`, 'must be "test" or "live"');
  const name = readText(fields.name, `${at}.name`);
  if (!/^[a-z0-9-]{1,32}$/.test(name)) {
    refuse(`${at}.name`, 'must be lower-case letters, digits and hyphens, such as "ethereum"');
  }
  const rpcUrls = list(fields.rpc_urls, `${at}.rpc_urls`).map((url, index) =>
    readUrl(url, `${at}.rpc_urls[${String(index)}]`),
  );
  const urlsMin = isDevelopment ? 1 : RPC_URLS_MIN;
  if (new Set(rpcUrls).size < urlsMin) {
    refuse(`${at}.rpc_urls`, `must have at least ${String(urlsMin)} different URLs`);
  }
  const native = fieldsOf(fields.native, `${at}.native`, ['asset']);
  const nativeAsset = readAsset(native.asset, `${at}.native.asset`);
  const tokens = list(fields.tokens ?? [], `${at}.tokens`).map((token, index) =>
    readToken(token, `${at}.tokens[${String(index)}]`),
  );
  const assets = [nativeAsset, ...tokens.map(({ asset }) => asset)];
  refuseRepeated(assets, `${at}.tokens`, 'asset');
  refuseRepeated(
    tokens.map(({ address }) => address),
    `${at}.tokens`,
    'address',
  );
  return {
    mode,
    name,
    chainId: readWhole(fields.chain_id, `${at}.chain_id`, 1, Number.MAX_SAFE_INTEGER),
    rpcUrls,
    finality:
      fields.finality === undefined || fields.finality === 'finalized'
        ? 'finalized'
        : readWhole(fields.finality, `${at}.finality`, 1, CONFIRMATIONS_MAX),
    rpcTimeoutMs: readWhole(
      fields.rpc_timeout_ms ?? DEFAULT_RPC_TIMEOUT_MS,
      `${at}.rpc_timeout_ms`,
      100,
      60_000,
    ),
    pollMs: readWhole(fields.poll_ms ?? DEFAULT_POLL_MS, `${at}.poll_ms`, 50, 60_000),
    native: { asset: nativeAsset },
    tokens,
    deposits: readDeposits(fields.deposits, `${at}.deposits`, assets),
    payouts:
      fields.payouts === undefined ? null : readPayouts(fields.payouts, `${at}.payouts`, assets),
  };
}

const DECIMALS_MAX = 36;

function readToken(entry: unknown, at: string): Token {
  const fields = fieldsOf(entry, at, ['asset', 'address', 'decimals']);
  return {
    asset: readAsset(fields.asset, `${at}.asset`),
    address: readAddress(fields.address, `${at}.address`),
    decimals: readWhole(fields.decimals, `${at}.decimals`, 0, DECIMALS_MAX),
  };
}

function readDeposits(entry: unknown, at: string, assets: readonly string[]): DepositRules {
  const fields = fieldsOf(entry ?? {}, at, ['safe_below', 'dust']);
  return {
    safeBelow: perAsset(fields.safe_below, `${at}.safe_below`, assets, readPositive),
    dust: perAsset(fields.dust, `${at}.dust`, assets, readPositive),
  };
}

const PAYOUT_FIELDS = [
  ...['signer', 'signers', 'float_minimum', 'limits', 'native_prices', 'gas_max'],
  ...[
    'max_fee_per_gas_gwei',
    'priority_fee_per_gas_gwei',
    'replace_after_seconds',
    'resend_after_seconds',
    'in_flight_max',
  ],
] as const;
const GWEI_MAX = 1_000_000;
const GWEI_WEI = 1_000_000_000n;
const DEFAULT_MAX_FEE_GWEI = 300;
const GAS_MIN = 21_000;
const DEFAULT_GAS_MAX = 1_000_000;
const DEFAULT_REPLACE_AFTER_SECONDS = 60;
const DEFAULT_RESEND_AFTER_SECONDS = 30;
const DEFAULT_IN_FLIGHT_MAX = 16;

function readPayouts(entry: unknown, at: string, assets: readonly string[]): PayoutRules {
  const fields = fieldsOf(entry, at, PAYOUT_FIELDS);
  const gwei = (name: 'max_fee_per_gas_gwei' | 'priority_fee_per_gas_gwei', otherwise: unknown) =>
    BigInt(readWhole(fields[name] ?? otherwise, `${at}.${name}`, 0, GWEI_MAX)) * GWEI_WEI;
  const seconds = (name: 'replace_after_seconds' | 'resend_after_seconds', otherwise: number) =>
    readWhole(fields[name] ?? otherwise, `${at}.${name}`, 1, 86_400);
  return {
    signers: readSigners(fields, at),
    floatMinimum: perAsset(fields.float_minimum, `${at}.float_minimum`, assets, readPositive),
    limits: perAsset(fields.limits, `${at}.limits`, assets, (value, where) => {
      const limits = fieldsOf(value, where, ['hour', 'day']);
      return {
        hour: readPositive(limits.hour, `${where}.hour`),
        day: readPositive(limits.day, `${where}.day`),
      };
    }),
    nativePrices: perAsset(fields.native_prices, `${at}.native_prices`, assets, readPositive),
    maxFeePerGasWei: gwei('max_fee_per_gas_gwei', DEFAULT_MAX_FEE_GWEI),
    priorityFeePerGasWei:
      fields.priority_fee_per_gas_gwei === undefined ? null : gwei('priority_fee_per_gas_gwei', 0),
    gasMax: BigInt(
      readWhole(fields.gas_max ?? DEFAULT_GAS_MAX, `${at}.gas_max`, GAS_MIN, 1_000_000_000),
    ),
    replaceAfterMs: seconds('replace_after_seconds', DEFAULT_REPLACE_AFTER_SECONDS) * 1000,
    resendAfterMs: seconds('resend_after_seconds', DEFAULT_RESEND_AFTER_SECONDS) * 1000,
    inFlightMax: readWhole(
      fields.in_flight_max ?? DEFAULT_IN_FLIGHT_MAX,
      `${at}.in_flight_max`,
      1,
      1_000,
    ),
  };
}

const SIGNER_FIELDS = [
  ...['kind', 'file', 'password_file'],
  ...['url', 'address', 'ca_file', 'certificate_file', 'key_file'],
] as const;

/** `signer` is one hot wallet, `signers` a list of them. */
function readSigners(
  { signer, signers }: { signer?: unknown; signers?: unknown },
  at: string,
): SignerSettings[] {
  if (signers === undefined) return [readSigner(signer, `${at}.signer`)];
  if (signer !== undefined) {
    refuse(`${at}.signers`, 'and signer cannot both be set; name every hot wallet in signers');
  }
  const settings = list(signers, `${at}.signers`).map((entry, index) =>
    readSigner(entry, `${at}.signers[${String(index)}]`),
  );
  if (settings.length === 0) refuse(`${at}.signers`, 'must have at least one entry');
  // The same key in two files is noticed when the files are opened.
  refuseRepeated(
    settings.map((one) => (one.kind === 'keystore' ? one.file : one.address)),
    `${at}.signers`,
    'hot wallet',
  );
  return settings;
}

function readSigner(entry: unknown, at: string): SignerSettings {
  const fields = fieldsOf(entry, at, SIGNER_FIELDS);
  if (fields.kind === 'keystore') {
    return {
      kind: 'keystore',
      file: readText(fields.file, `${at}.file`),
      passwordFile: readText(fields.password_file, `${at}.password_file`),
    };
  }
  if (fields.kind === 'remote') {
    return {
      kind: 'remote',
      url: readUrl(fields.url, `${at}.url`),
      address: readAddress(fields.address, `${at}.address`),
      tls: readSignerTls(fields, at),
    };
  }
  return refuse(`${at}.kind`, 'must be "keystore" or "remote"');
}

function readSignerTls(
  fields: Partial<Record<(typeof SIGNER_FIELDS)[number], unknown>>,
  at: string,
): SignerTls {
  const path = (name: 'ca_file' | 'certificate_file' | 'key_file'): string | null =>
    fields[name] === undefined ? null : readText(fields[name], `${at}.${name}`);
  const tls = {
    ...{ caFile: path('ca_file'), certificateFile: path('certificate_file') },
    keyFile: path('key_file'),
  };
  if ((tls.certificateFile === null) !== (tls.keyFile === null)) {
    refuse(`${at}.certificate_file`, 'and key_file must be set together');
  }
  return tls;
}
