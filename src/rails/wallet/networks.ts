/**
 * Networks as data: one entry for each EVM chain and mode, in a JSON file. The file holds the RPC
 * URLs, which often contain an API key, so it is protected like a secret. Nothing here asks a node;
 * chain/verify.ts compares the entries with the chain at the start.
 */
import { readFileSync } from 'node:fs';
import { type Static, type TSchema, Type } from 'typebox';
import { type Address, getAddress, isAddress } from 'viem';
import { type Amount, CURRENCY_PATTERN, parseRequestAmount } from '../../domain/money';
import { checkJson, type JsonFault } from '../../platform/lib/check-json';
import { SetupError } from '../../platform/lib/setup-error';
import { type Mode, MODES } from '../onchain-api/requests';

export const WALLET_MODES = MODES;
export type WalletMode = Mode;

/** docs/wallet.md, "Networks", says what each field means. */
export type Network = Readonly<ReturnType<typeof readNetwork>>;
export type DepositRules = Network['deposits'];
/** What a network has that sends. */
export type PayoutRules = Readonly<ReturnType<typeof readPayouts>>;

/** What src/rails/wallet/signer opens; its secrets are in files or on the other side of the URL. */
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

const OBJECT = { description: 'must be a JSON object', additionalProperties: false };
const LIST = { description: 'must be a JSON array' };

const Text = Type.String({ minLength: 1, description: 'must be a text' });

function Whole(minimum: number, maximum: number) {
  const description = `must be a whole number from ${minimum} to ${maximum}`;
  return Type.Integer({ minimum, maximum, description });
}

/** @param fault what is wrong with a text, or null */
function Checked(description: string, fault: (text: string) => string | null) {
  return Type.Refine(
    Type.String({ description }),
    (text) => fault(text) === null,
    (text) => fault(text) ?? description,
  );
}

const URL_RULE = 'must be a URL starting with http:// or https://';
const Url = Checked(URL_RULE, (text) => {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return URL_RULE;
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}${password}`);
    return null;
  } catch {
    return 'must have a name and password that are percent-encoded: write % as %25';
  }
});

const ADDRESS_RULE =
  'must be an address with a valid checksum, such as "0x52908400098527886E0F7030069857D2E4169EE7"';
const AddressText = Checked(ADDRESS_RULE, (text) => (isAddress(text) ? null : ADDRESS_RULE));

const AMOUNT_RULE = 'must be a positive amount as text with at most 8 decimals, such as "1000.00"';
const Positive = Checked(AMOUNT_RULE, (text) =>
  parseRequestAmount(text) === null ? AMOUNT_RULE : null,
);

const Asset = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'must be a currency code in upper case, such as "USDT"',
});

/** Null counts as absent. */
function Maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const NetworksFile = Type.Object(
  {
    networks: Type.Array(Type.Unknown(), {
      minItems: 1,
      description: 'must have at least one entry',
    }),
  },
  OBJECT,
);

const DECIMALS_MAX = 36;

/** What names the assets of a network; other fields use the names. */
const ASSETS = {
  native: Type.Object({ asset: Asset }, OBJECT),
  tokens: Maybe(
    Type.Array(
      Type.Object({ asset: Asset, address: AddressText, decimals: Whole(0, DECIMALS_MAX) }, OBJECT),
      LIST,
    ),
  ),
};

const CONFIRMATIONS_MAX = 10_000;
const GWEI_MAX = 1_000_000;
/** Second layers ask for less than one gwei. */
const Gwei = Type.Number({
  minimum: 0,
  maximum: GWEI_MAX,
  description: `must be a number from 0 to ${GWEI_MAX}`,
});
const GAS_MIN = 21_000;
const DAY_SECONDS = 86_400;

/** @param assets the only names that amounts can be given for */
function networkSchema(assets: readonly string[]) {
  const perAsset = <Value extends TSchema>(value: Value) =>
    Maybe(
      Type.Unsafe<Record<string, Static<Value>>>(
        Type.Object(
          Object.fromEntries(assets.map((asset) => [asset, Type.Optional(value)])),
          OBJECT,
        ),
      ),
    );
  return Type.Object(
    {
      mode: Type.Enum([...WALLET_MODES], { description: 'must be "test" or "live"' }),
      name: Type.String({
        pattern: '^[a-z0-9-]{1,32}$',
        description: 'must be lower-case letters, digits and hyphens, such as "ethereum"',
      }),
      chain_id: Whole(1, Number.MAX_SAFE_INTEGER),
      rpc_urls: Type.Array(Url, LIST),
      finality: Type.Optional(
        Type.Union([Type.Literal('finalized'), Whole(1, CONFIRMATIONS_MAX)], {
          description: `must be "finalized" or a whole number from 1 to ${CONFIRMATIONS_MAX}`,
        }),
      ),
      poll_ms: Maybe(Whole(50, 60_000)),
      rpc_timeout_ms: Maybe(Whole(100, 60_000)),
      ...ASSETS,
      deposits: Maybe(
        Type.Object({ safe_below: perAsset(Positive), dust: perAsset(Positive) }, OBJECT),
      ),
      payouts: Type.Optional(
        Type.Object(
          {
            signer: Type.Optional(Type.Unknown()),
            signers: Type.Optional(Type.Array(Type.Unknown(), LIST)),
            float_minimum: perAsset(Positive),
            limits: perAsset(Type.Object({ hour: Positive, day: Positive }, OBJECT)),
            native_prices: perAsset(Positive),
            gas_max: Maybe(Whole(GAS_MIN, 1_000_000_000)),
            max_fee_per_gas_gwei: Maybe(Gwei),
            priority_fee_per_gas_gwei: Type.Optional(Gwei),
            replace_after_seconds: Maybe(Whole(1, DAY_SECONDS)),
            resend_after_seconds: Maybe(Whole(1, DAY_SECONDS)),
            in_flight_max: Maybe(Whole(1, 1_000)),
          },
          OBJECT,
        ),
      ),
    },
    OBJECT,
  );
}

type NetworkEntry = Static<ReturnType<typeof networkSchema>>;
type Refuse = (fault: JsonFault) => SetupError;

/** @param where the start of every error, such as the path of the file */
export function readNetworks(
  content: unknown,
  where: string,
  { isDevelopment }: Surroundings,
): Network[] {
  const refuse: Refuse = ({ at, rule }) => new SetupError(`${where}: ${at.slice(1)} ${rule}.`);
  const { networks: entries } = checkJson(NetworksFile, content, refuse);
  const networks = entries.map((entry, index) =>
    readNetwork(entry, isDevelopment ? 1 : RPC_URLS_MIN, ({ at, rule }) =>
      refuse({ at: `.networks[${index}]${at}`, rule }),
    ),
  );
  refuseRepeated(
    networks.map(({ mode, name }) => `${mode} ${name}`),
    'name',
    (rule) => refuse({ at: '.networks', rule }),
  );
  // One chain in both modes would share nonces and addresses between test and live money.
  refuseRepeated(
    networks.map(({ chainId }) => String(chainId)),
    'chain_id',
    (rule) => refuse({ at: '.networks', rule }),
  );
  return networks;
}

function refuseRepeated(
  values: readonly string[],
  field: string,
  refuse: (rule: string) => SetupError,
): void {
  const repeated = values.find((value, index) => values.indexOf(value) !== index);
  if (repeated !== undefined) throw refuse(`has ${repeated} twice; each ${field} must be unique`);
}

const RPC_URLS_MIN = 2;
const DEFAULT_POLL_MS = 1_000;
const DEFAULT_RPC_TIMEOUT_MS = 10_000;

function readNetwork(entry: unknown, urlsMin: number, refuse: Refuse) {
  const { native, tokens: listed } = checkJson(
    Type.Object(ASSETS, { description: OBJECT.description }),
    entry,
    refuse,
  );
  const tokens = listed ?? [];
  const assets = [native.asset, ...tokens.map(({ asset }) => asset)];
  const fields = checkJson(networkSchema(assets), entry, refuse);
  const { rpc_urls: rpcUrls, deposits, payouts } = fields;
  if (new Set(rpcUrls).size < urlsMin) {
    throw refuse({
      at: '.rpc_urls',
      rule: `must have at least ${urlsMin} different URLs`,
    });
  }
  const refuseTokens = (rule: string) => refuse({ at: '.tokens', rule });
  refuseRepeated(assets, 'asset', refuseTokens);
  const addresses = tokens.map(({ address }) => getAddress(address));
  refuseRepeated(addresses, 'address', refuseTokens);
  return {
    mode: fields.mode,
    name: fields.name,
    chainId: fields.chain_id,
    /** Asked in this order; the next one when a node does not answer. */
    rpcUrls,
    finality: fields.finality ?? 'finalized',
    rpcTimeoutMs: fields.rpc_timeout_ms ?? DEFAULT_RPC_TIMEOUT_MS,
    pollMs: fields.poll_ms ?? DEFAULT_POLL_MS,
    /** The native coin; all EVM chains count it in wei. */
    native,
    tokens: tokens.map((token) => ({ ...token, address: getAddress(token.address) })),
    deposits: { safeBelow: amounts(deposits?.safe_below), dust: amounts(deposits?.dust) },
    /** Null in a network that only receives. */
    payouts:
      payouts === undefined
        ? null
        : readPayouts(payouts, ({ at, rule }) => refuse({ at: `.payouts${at}`, rule })),
  };
}

function amounts(texts: Readonly<Record<string, string>> | null = {}): Record<string, Amount> {
  return mapValues(texts ?? {}, toAmount);
}

function mapValues<From, To>(
  from: Readonly<Record<string, From>>,
  read: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, read(value)]));
}

function toAmount(text: string): Amount {
  const amount = parseRequestAmount(text);
  if (amount === null) throw new SetupError(`${text} ${AMOUNT_RULE}.`);
  return amount;
}

/** The product is below 2^53, and rounding it makes it exact. */
function toWei(gwei: number): bigint {
  return BigInt(Math.round(gwei * 1_000_000_000));
}

const DEFAULT_MAX_FEE_GWEI = 300;
const DEFAULT_GAS_MAX = 200_000;
const DEFAULT_REPLACE_AFTER_SECONDS = 60;
const DEFAULT_RESEND_AFTER_SECONDS = 30;
const DEFAULT_IN_FLIGHT_MAX = 16;

function readPayouts(fields: NonNullable<NetworkEntry['payouts']>, refuse: Refuse) {
  const priorityGwei = fields.priority_fee_per_gas_gwei;
  return {
    signers: readSigners(fields, refuse),
    floatMinimum: amounts(fields.float_minimum),
    limits: mapValues(fields.limits ?? {}, ({ hour, day }) => ({
      hour: toAmount(hour),
      day: toAmount(day),
    })),
    nativePrices: amounts(fields.native_prices),
    maxFeePerGasWei: toWei(fields.max_fee_per_gas_gwei ?? DEFAULT_MAX_FEE_GWEI),
    /** Null asks the node. */
    priorityFeePerGasWei: priorityGwei === undefined ? null : toWei(priorityGwei),
    gasMax: BigInt(fields.gas_max ?? DEFAULT_GAS_MAX),
    replaceAfterMs: (fields.replace_after_seconds ?? DEFAULT_REPLACE_AFTER_SECONDS) * 1000,
    resendAfterMs: (fields.resend_after_seconds ?? DEFAULT_RESEND_AFTER_SECONDS) * 1000,
    inFlightMax: fields.in_flight_max ?? DEFAULT_IN_FLIGHT_MAX,
  };
}

const KEYSTORE = { file: Text, password_file: Text };
const REMOTE = {
  url: Url,
  address: AddressText,
  ca_file: Type.Optional(Text),
  certificate_file: Type.Optional(Text),
  key_file: Type.Optional(Text),
};
const IGNORED = mapValues({ ...KEYSTORE, ...REMOTE }, () => Type.Optional(Type.Unknown()));
const Kind = Type.Enum(['keystore', 'remote'], {
  description: 'must be "keystore" or "remote"',
});

const Signer = Type.Object({ ...IGNORED, kind: Kind }, OBJECT);
const Keystore = Type.Object({ ...IGNORED, kind: Kind, ...KEYSTORE }, OBJECT);
const Remote = Type.Object({ ...IGNORED, kind: Kind, ...REMOTE }, OBJECT);

/** `signer` is one hot wallet, `signers` a list of them. */
function readSigners(
  { signer, signers }: { signer?: unknown; signers?: unknown[] },
  refuse: Refuse,
): SignerSettings[] {
  const read = (entry: unknown, place: string): SignerSettings =>
    readSigner(entry, ({ at, rule }) => refuse({ at: `${place}${at}`, rule }));
  if (signers === undefined) return [read(signer, '.signer')];
  const refuseList = (rule: string): SetupError => refuse({ at: '.signers', rule });
  if (signer !== undefined) {
    throw refuseList('and signer cannot both be set; name every hot wallet in signers');
  }
  const settings = signers.map((entry, index) => read(entry, `.signers[${index}]`));
  if (settings.length === 0) throw refuseList('must have at least one entry');
  // The same key in two files is noticed when the files are opened.
  refuseRepeated(
    settings.map((one) => (one.kind === 'keystore' ? one.file : one.address)),
    'hot wallet',
    refuseList,
  );
  return settings;
}

function readSigner(entry: unknown, refuse: Refuse): SignerSettings {
  const { kind } = checkJson(Signer, entry, refuse);
  if (kind === 'keystore') {
    const { file, password_file: passwordFile } = checkJson(Keystore, entry, refuse);
    return { kind, file, passwordFile };
  }
  const { url, address, ...files } = checkJson(Remote, entry, refuse);
  const tls = {
    caFile: files.ca_file ?? null,
    certificateFile: files.certificate_file ?? null,
    keyFile: files.key_file ?? null,
  };
  if ((tls.certificateFile === null) !== (tls.keyFile === null)) {
    throw refuse({ at: '.certificate_file', rule: 'and key_file must be set together' });
  }
  return { kind, url, address: getAddress(address), tls };
}
