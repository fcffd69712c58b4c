/**
 * Every environment variable of the programs: to add a setting, add its row. The programs read the table
 * (read-settings.ts), `npm run settings` writes it into docs/operations.md, the chart and docker-compose.yml, and
 * secrets can be in files (secret-files.ts).
 */
import { WORKER_QUEUES, type WorkerQueue } from '../../domain/worker-queues';
import {
  baseUrl,
  choice,
  choices,
  cidrs,
  count,
  currencyAmounts,
  emails,
  host,
  httpUrl,
  networkPrograms,
  orNone,
  type Kind,
  postgresUrl,
  publicKeys,
  roleGroups,
  secret,
  secrets,
  smtpUrl,
  text,
} from './setting-kinds';

export type ProgramName = 'api' | 'worker' | 'wallet' | 'migrate' | 'admin' | 'ledger-verify';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting {
  /** How its text is read; null: by Temporal’s own library (src/temporal/connection.ts). */
  kind: Kind<unknown> | null;
  /** The text that is used without it. */
  otherwise?: string | ((env: Environment) => string);
  /** When it must be set. Without this and without a default, it is null when it is not set. */
  required?: 'always' | 'in production' | { with: string };
  /** What a message asks for when it is missing, instead of what its kind accepts. */
  setTo?: string;
  /** What production refuses besides (production.ts). */
  inProduction?:
    | 'https'
    | 'an identity provider'
    | 'a provider'
    | 'providers'
    | 'a screening service'
    | 'random'
    | 'random and used once';
  /** The programs that read it. */
  programs: readonly ProgramName[];
  /** The queues whose workers read it; absent if every worker does. */
  queues?: readonly WorkerQueue[];
  /** Can be read from a file, and never appears in a log. */
  isSecret?: true;
  /** In Markdown. */
  meaning: string;
}

const BOTH = ['api', 'worker'] as const;
const WITH_ADMIN = [...BOTH, 'admin'] as const;
const WITH_WALLET = [...BOTH, 'wallet'] as const;
const OF_TEMPORAL = [...BOTH, 'wallet', 'admin', 'ledger-verify'] as const;

/** The queues whose workers call providers. Those of webhooks call addresses that merchants choose. */
const CALLERS = ['payouts', 'batches', 'payments', 'providers'] as const;
/** The queue whose workers send mail. */
const MAILERS = ['payouts'] as const;

export const GATEWAY_SETTINGS = {
  DATABASE_URL: {
    kind: postgresUrl,
    required: 'always',
    isSecret: true,
    programs: [...BOTH, 'ledger-verify'],
    meaning:
      'PostgreSQL URL of the program’s login: `gateway_api_1` for `api`, `gateway_worker_1` for `worker`, such as `postgres://gateway_api_1:…@host:5432/gateway`; see “TLS to PostgreSQL”',
  },
  DATABASE_POOL_SIZE: {
    kind: count(1, 500),
    otherwise: '20',
    programs: BOTH,
    meaning: 'maximum connections of this process',
  },
  DATABASE_STATEMENT_TIMEOUT_MS: {
    kind: count(500, 60_000),
    otherwise: '15000',
    programs: BOTH,
    meaning:
      'PostgreSQL ends a statement after this time; without an answer 3 s later, its connection is given up',
  },
  DASHBOARD_DATABASE_URL: {
    kind: postgresUrl,
    isSecret: true,
    programs: ['api'],
    meaning:
      'PostgreSQL URL of the login `gateway_dashboard_1`; with it, `api` serves `/dashboard` and `/console`',
  },
  DASHBOARD_DATABASE_POOL_SIZE: {
    kind: count(1, 500),
    otherwise: '10',
    programs: ['api'],
    meaning: 'maximum connections of the pages',
  },
  DASHBOARD_HOST: {
    kind: host,
    programs: BOTH,
    meaning:
      'the only host (and port) that `/dashboard` is served on, such as `dashboard.example.com`; without it, every host',
  },
  CONSOLE_HOST: {
    kind: host,
    programs: ['api'],
    meaning: 'the same for `/console`; put it in a private network, see “The console”',
  },
  OIDC_ISSUER: {
    kind: httpUrl,
    inProduction: 'an identity provider',
    programs: ['api'],
    meaning:
      'the OpenID Connect provider of the operators, exactly as its discovery document writes `issuer`; with it, operators sign in to the console there, see [Single sign-on](single-sign-on.md)',
  },
  OIDC_CLIENT_ID: {
    kind: text,
    required: { with: 'OIDC_ISSUER' },
    setTo: 'the client id that the provider gave to the console',
    programs: ['api'],
    meaning: 'client id of the console at that provider',
  },
  OIDC_CLIENT_SECRET: {
    kind: text,
    required: { with: 'OIDC_ISSUER' },
    setTo: 'the client secret that the provider gave to the console',
    isSecret: true,
    programs: ['api'],
    meaning: 'secret of that client',
  },
  OIDC_ROLE_GROUPS: {
    kind: roleGroups,
    required: { with: 'OIDC_ISSUER' },
    setTo: 'group=role pairs such as payments-admins=admin,payments-reviewers=reviewer',
    programs: ['api'],
    meaning:
      'the role of each group, such as `payments-admins=admin,payments-reviewers=reviewer`; of several, the highest counts',
  },
  OIDC_GROUPS_CLAIM: {
    kind: text,
    otherwise: 'groups',
    programs: ['api'],
    meaning: 'the claim of the ID token, or of the userinfo endpoint, that lists the groups',
  },
  OIDC_EMAIL_CLAIM: {
    kind: text,
    otherwise: 'email',
    programs: ['api'],
    meaning:
      'the claim that names a new operator; `email` is accepted with `email_verified` only, and any other must be one that people cannot change by themselves',
  },
  OIDC_SCOPE: {
    kind: text,
    otherwise: 'openid email profile',
    programs: ['api'],
    meaning:
      'the scopes that are asked for, with `openid`; some providers send groups with another one',
  },
  OIDC_SESSION_MINUTES: {
    kind: count(5, 720),
    otherwise: '60',
    programs: ['api'],
    meaning:
      'how long a session of the console lasts until the provider is asked again; whoever left a group is out after this time',
  },
  OIDC_BREAK_GLASS: {
    kind: emails,
    programs: ['api'],
    meaning:
      'email addresses of operators who may also sign in without the provider; each such sign-in is audited, counted and shown. Without it, nobody can',
  },
  CONSOLE_URL: {
    kind: baseUrl,
    programs: ['worker'],
    meaning:
      'where operators open the console, such as `https://ops.example.com/console`; the pages of payout workflows link to it',
  },
  SIGNAL_APPROVAL_MAX: {
    kind: currencyAmounts,
    programs: ['worker'],
    meaning:
      'the amount of each currency, such as `USDT=10000,BTC=0.5`, above which the signal `approve` of a workflow has no effect; an operator approves in the console instead. Without it, and for other currencies, signals approve any amount that four eyes does not hold',
  },
  TEMPORAL_ADDRESS: {
    kind: null,
    required: 'always',
    setTo: 'the host:port of the Temporal frontend',
    programs: OF_TEMPORAL,
    meaning: 'host:port of the Temporal frontend',
  },
  TEMPORAL_NAMESPACE: {
    kind: null,
    otherwise: 'default',
    programs: OF_TEMPORAL,
    meaning: 'the Temporal namespace of the gateway; its wallet uses the same',
  },
  TEMPORAL_API_KEY: {
    kind: null,
    isSecret: true,
    programs: OF_TEMPORAL,
    meaning: 'API key, as for Temporal Cloud; turns TLS on; a file is read again every minute',
  },
  TEMPORAL_TLS: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning: '`true` or `false`; certificates and an API key turn it on without it',
  },
  TEMPORAL_TLS_CLIENT_CERT_PATH: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning: 'PEM file of the client certificate, for mutual TLS; read again every minute',
  },
  TEMPORAL_TLS_CLIENT_KEY_PATH: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning: 'PEM file of its key; required with the certificate',
  },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning:
      'PEM file of the authority that signed the server’s certificate; without it, the public ones',
  },
  TEMPORAL_TLS_SERVER_NAME: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning: 'name in the server’s certificate, if it differs from the host of the address',
  },
  TEMPORAL_PROFILE: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning:
      'profile in the file of profiles that the Temporal CLI also reads; other variables take precedence',
  },
  TEMPORAL_CONFIG_FILE: {
    kind: null,
    programs: OF_TEMPORAL,
    meaning:
      'TOML file of profiles; with a profile and without this, `~/.config/temporalio/temporal.toml`',
  },
  TEMPORAL_UI_URL: {
    kind: baseUrl,
    programs: ['api'],
    meaning:
      'URL of the Temporal UI for operators, such as `https://temporal.example.com`; with it, the console links each object to its workflow',
  },
  PORT: {
    kind: count(0, 65_535),
    otherwise: '3000',
    programs: BOTH,
    meaning: 'port of `api`; 0 selects a free port',
  },
  HOST: {
    kind: text,
    programs: ['api'],
    meaning:
      'address that `api` listens on, such as `127.0.0.1` behind a proxy on the same machine; without it, all addresses',
  },
  API_DRAIN_MS: {
    kind: count(0, 60_000),
    otherwise: '0',
    programs: ['api'],
    meaning:
      'how long a stopping `api` still takes requests while `/servingz` is 503, so that a load balancer sends the next ones elsewhere; longer than two of its checks',
  },
  PUBLIC_URL: {
    kind: baseUrl,
    otherwise: ({ PORT }) => `http://localhost:${PORT?.trim() || '3000'}`,
    required: 'in production',
    setTo: 'the https:// address that people open in production',
    inProduction: 'https',
    programs: WITH_ADMIN,
    meaning:
      'base URL of the API for merchants, without `/api/v1`; used in the links of lists and of invitations, and for passkeys; webhooks are not sent to its host. The default has the port of PORT. In production it is required and starts with `https://`',
  },
  TRUSTED_PROXY_HOPS: {
    kind: count(0, 10),
    otherwise: '0',
    programs: ['api'],
    meaning:
      'number of proxies in front that append to X-Forwarded-For; a wrong number breaks address allowlists',
  },
  KEY_PEPPER: {
    kind: secret,
    required: 'always',
    isSecret: true,
    inProduction: 'random and used once',
    programs: ['api', 'admin'],
    meaning: 'without a comma: API keys are stored as an HMAC with it',
  },
  KEY_PEPPER_NEXT: {
    kind: secret,
    isSecret: true,
    programs: ['api'],
    meaning: 'the pepper that becomes KEY_PEPPER next: keys with it are accepted already',
  },
  KEY_PEPPERS_EARLIER: {
    kind: secrets,
    isSecret: true,
    programs: ['api'],
    meaning:
      'earlier peppers: keys with them are accepted, and stored with KEY_PEPPER when they are used',
  },
  CURSOR_SECRET: {
    kind: secret,
    required: 'always',
    isSecret: true,
    inProduction: 'random and used once',
    programs: ['api'],
    meaning: 'without a comma: signs list cursors',
  },
  CURSOR_SECRETS_EARLIER: {
    kind: secrets,
    isSecret: true,
    programs: ['api'],
    meaning: 'other secrets: cursors with them are accepted',
  },
  ...providerSettings('ONCHAIN_TEST', 'the on-chain provider in test mode', WITH_WALLET),
  ...providerSettings('ONCHAIN_LIVE', 'the on-chain provider in live mode', WITH_WALLET),
  ONCHAIN_TEST_NETWORK_URLS: networkUrls('ONCHAIN_TEST'),
  ONCHAIN_LIVE_NETWORK_URLS: networkUrls('ONCHAIN_LIVE'),
  ...providerSettings('EXCHANGE_PAY_TEST', 'Exchange Pay in test mode', BOTH),
  ...providerSettings('EXCHANGE_PAY_LIVE', 'Exchange Pay in live mode', BOTH),
  SCREENING_URL: {
    kind: orNone(httpUrl),
    inProduction: 'a screening service',
    programs: WITH_ADMIN,
    queues: CALLERS,
    meaning:
      'service that clears the destinations of live payouts ([screening.md](screening.md)); a worker that starts with it requires its answers until `admin screening remove service`. In production it is required with a live provider: `none` says that imported lists alone, or nobody, screen',
  },
  SCREENING_API_KEY: {
    kind: text,
    required: { with: 'SCREENING_URL' },
    setTo: 'the API key at the screening service',
    isSecret: true,
    programs: WITH_ADMIN,
    queues: CALLERS,
    meaning: 'bearer key at that service',
  },
  SCREENING_TIMEOUT_MS: {
    kind: count(100, 10_000),
    otherwise: '5000',
    programs: WITH_ADMIN,
    queues: CALLERS,
    meaning: 'request timeout; without an answer, the payout waits',
  },
  SMTP_URL: {
    kind: smtpUrl,
    isSecret: true,
    programs: ['worker'],
    queues: MAILERS,
    meaning:
      'mail server for notifications, such as `smtps://login:password@mail.example.com`; without it, nobody gets mail. In production `smtp://` requires STARTTLS, unless the URL ends with `?requireTLS=false`',
  },
  MAIL_FROM: {
    kind: text,
    required: { with: 'SMTP_URL' },
    setTo: 'the sender of mails, such as Payments <payments@example.com>',
    programs: BOTH,
    queues: MAILERS,
    meaning:
      'sender of the mails, such as `Payments <payments@example.com>`; with it, `api` lets the workers mail invitations and links for a new password',
  },
  NOTIFY_REVIEW_AFTER_MINUTES: {
    kind: count(1, 10_080),
    otherwise: '60',
    programs: ['worker'],
    queues: MAILERS,
    meaning: 'operators are notified of a live payout that has waited for review for so long',
  },
  NOTIFY_DOUBT_AFTER_MINUTES: {
    kind: count(1, 10_080),
    otherwise: '15',
    programs: ['worker'],
    queues: MAILERS,
    meaning: 'operators are notified of a live payout that has been in doubt for so long',
  },
  WORKER_QUEUES: {
    kind: choices(WORKER_QUEUES),
    otherwise: 'payouts,batches,payments,webhooks,webhooks-retry,providers',
    programs: ['worker'],
    meaning: 'task queues that this worker takes; `providers` are all calls to providers',
  },
  WORKER_DEPLOYMENT_NAME: {
    kind: text,
    required: { with: 'WORKER_BUILD_ID' },
    setTo: 'the name of the worker deployment',
    programs: ['worker'],
    meaning:
      'name of the worker deployment, such as `gateway`; with it, workers have versions, see “Worker versions”',
  },
  WORKER_BUILD_ID: {
    kind: text,
    required: { with: 'WORKER_DEPLOYMENT_NAME' },
    setTo: 'the version of this build',
    programs: ['worker'],
    meaning: 'version of this build, such as `2027-01-15`',
  },
  MAX_CACHED_WORKFLOWS: {
    kind: count(2, 100_000),
    otherwise: '300',
    programs: ['worker'],
    meaning: 'workflows that a worker keeps in memory',
  },
  WORKER_GRACE_MS: {
    kind: count(0, 600_000),
    otherwise: '15000',
    programs: ['worker'],
    meaning:
      'how long a stopping worker waits for running activities; a webhook attempt takes up to 12 s',
  },
  WORKFLOW_BUNDLE: {
    kind: text,
    programs: ['worker'],
    meaning:
      'workflow bundle made by `npm run build`; set by `npm run start:worker` and the image; without it, bundled at the start',
  },
  WEBHOOK_SECRET_KEY: {
    kind: secret,
    required: 'always',
    isSecret: true,
    inProduction: 'random and used once',
    programs: WITH_ADMIN,
    meaning:
      'encrypts the secrets of webhook endpoints and of authenticator apps, and the beneficiaries of payouts',
  },
  WEBHOOK_SECRET_KEYS_EARLIER: {
    kind: secrets,
    isSecret: true,
    programs: WITH_ADMIN,
    meaning: 'other keys; used for decryption only',
  },
  EVIDENCE_SIGNING_KEY: {
    kind: secret,
    isSecret: true,
    inProduction: 'random and used once',
    programs: WITH_ADMIN,
    meaning:
      'signs the heads of the audit log and the dossiers of payouts ([Evidence](#evidence)); without it, they have no signature',
  },
  EVIDENCE_PUBLIC_KEYS_EARLIER: {
    kind: publicKeys,
    programs: ['api', 'admin'],
    meaning:
      'public keys of earlier signing keys; they stay published, so that what they signed can be checked',
  },
  WEBHOOK_ALLOW_CIDRS: {
    kind: cidrs,
    programs: WITH_ADMIN,
    meaning: 'private networks that test webhooks may be sent to; logged at start',
  },
  WEBHOOK_LIVE_ALLOW_CIDRS: {
    kind: cidrs,
    programs: WITH_ADMIN,
    meaning:
      'the same for live and test webhooks; a decision of its own, as live events concern money',
  },
  WEBHOOK_DENY_CIDRS: {
    kind: cidrs,
    programs: WITH_ADMIN,
    meaning: 'public networks that webhooks must not be sent to; takes precedence',
  },
  GATEWAY_ENV: {
    kind: choice(['production', 'development', 'test']),
    programs: ['api', 'worker', 'wallet', 'admin'],
    meaning:
      '`production` in the image: no demo merchant, no `dev:fund`, and the programs refuse settings of development (see below); only `npm start` sets `development`',
  },
  METRICS_PORT: {
    kind: count(0, 65_535),
    programs: ['api', 'worker', 'wallet'],
    meaning:
      'private port of each process for `/metrics`, and in `api` and `worker` also `/healthz`, `/servingz` and `/readyz` with details; `0` takes any free port; not served without it',
  },
  METRICS_HOST: {
    kind: text,
    otherwise: '127.0.0.1',
    programs: ['api', 'worker', 'wallet'],
    meaning: 'address of that port; in a container set `0.0.0.0` and do not publish the port',
  },
  LOG_LEVEL: {
    kind: choice(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    otherwise: 'info',
    programs: ['api', 'worker', 'wallet'],
    meaning:
      'logs are JSON lines on stdout, written within 250 ms; a process that is killed with SIGKILL loses what it had not written',
  },
  TRACE_CONTEXT: {
    kind: choice(['on', 'off']),
    otherwise: 'off',
    programs: ['api'],
    meaning:
      '`on`: a request’s `traceparent` (W3C Trace Context), or a new one, goes with its payout or payment to the provider and the webhooks, and log lines have its `trace_id`',
  },
} as const satisfies Record<string, Setting>;

/** They are read by the programs that change the schema or what it contains. */
export const OWNER_SETTINGS = {
  DATABASE_OWNER_URL: {
    kind: postgresUrl,
    required: 'always',
    isSecret: true,
    setTo: 'the role that owns the schema, such as postgres://owner:password@host:5432/gateway',
    programs: ['migrate', 'admin'],
    meaning:
      'PostgreSQL URL of the role that owns the schema; `admin` can also use a login in `gateway_admin`. Keep it away from `api` and `worker`',
  },
} as const satisfies Record<string, Setting>;

/** `GATEWAY_ENV` and `LOG_LEVEL` are the gateway's. */
export const WALLET_SETTINGS = {
  WALLET_DATABASE_URL: {
    kind: postgresUrl,
    required: 'always',
    isSecret: true,
    setTo: 'the URL of the wallet’s PostgreSQL login, such as postgres://wallet:…@host/database',
    programs: ['wallet'],
    meaning: 'PostgreSQL URL of the wallet’s login, a member of the role `wallet_app`',
  },
  WALLET_DATABASE_OWNER_URL: {
    kind: postgresUrl,
    isSecret: true,
    programs: ['wallet'],
    meaning: 'login that owns the schema `wallet`; with it, the start applies the migrations',
  },
  WALLET_NETWORKS_FILE: {
    kind: text,
    required: 'always',
    setTo: 'the path of a JSON file with the networks (docs/wallet.md, "Networks")',
    programs: ['wallet'],
    meaning:
      'JSON file with the networks, their RPC URLs, tokens and signers ([wallet.md](wallet.md)); protect it like a secret',
  },
  WALLET_HOST: {
    kind: text,
    otherwise: '127.0.0.1',
    programs: ['wallet'],
    meaning: 'address to listen on',
  },
  WALLET_PORT: {
    kind: count(0, 65_535),
    otherwise: '3002',
    programs: ['wallet'],
    meaning: 'port to listen on; 0 selects a free port',
  },
  WALLET_PUBLIC_URL: {
    kind: baseUrl,
    setTo: 'the https:// address that people open in production',
    inProduction: 'https',
    programs: ['wallet'],
    meaning:
      'where browsers open the payment pages; without it, the listening address. In production it starts with `https://`, and is required while the wallet takes deposits',
  },
  WALLET_TEST_XPUB: {
    kind: text,
    programs: ['wallet'],
    meaning:
      'extended public key of the deposit addresses in test mode; without it, no deposits in that mode',
  },
  WALLET_LIVE_XPUB: {
    kind: text,
    programs: ['wallet'],
    meaning: 'the same for live mode',
  },
  WALLET_SCREENING_URL: {
    kind: baseUrl,
    programs: ['wallet'],
    meaning: 'a service that clears or holds each deposit',
  },
  WALLET_SCREENING_TOKEN: {
    kind: text,
    isSecret: true,
    programs: ['wallet'],
    meaning: 'bearer token for that service',
  },
  WALLET_CALLBACK_BASE_URL: {
    kind: baseUrl,
    programs: ['wallet'],
    meaning:
      'the gateway; callbacks go to `<it>/provider-callbacks/onchain_provider/<mode>`; without it, no callbacks',
  },
  WALLET_WORKFLOW_BUNDLE: {
    kind: text,
    programs: ['wallet'],
    meaning:
      'workflow bundle of the wallet, made by `npm run build`; set by `npm run start:wallet` and the image; without it, bundled at the start',
  },
} as const satisfies Record<string, Setting>;

export const SETTINGS = { ...GATEWAY_SETTINGS, ...OWNER_SETTINGS, ...WALLET_SETTINGS };

/** The rows without their own types. */
export const ROWS: readonly [name: string, row: Setting][] = Object.entries(SETTINGS);

/** Whether a variable can be read from a file. */
export function isSecretSetting(name: string): boolean {
  return ROWS.some(([one, { isSecret }]) => one === name && isSecret === true);
}

/** In a URL, the key and the secret belong to the program that gets them. */
function networkUrls<Prefix extends 'ONCHAIN_TEST' | 'ONCHAIN_LIVE'>(prefix: Prefix) {
  return {
    kind: networkPrograms,
    inProduction: 'providers',
    isSecret: true,
    programs: BOTH,
    queues: CALLERS,
    meaning: `programs that serve networks in place of \`${prefix}_URL\`, each with an API key and a callback secret of its own, see [onchain-provider.md](onchain-provider.md), “Several programs”`,
  } as const satisfies Setting;
}

/** A provider in one mode; its variables begin with the prefix. */
function providerSettings<
  const Prefix extends string,
  const Programs extends readonly ProgramName[],
>(prefix: Prefix, provider: string, programs: Programs) {
  const rows = {
    URL: {
      kind: baseUrl,
      ...(prefix.startsWith('ONCHAIN') ? { required: { with: `${prefix}_NETWORK_URLS` } } : {}),
      setTo: 'the API of the provider of all other networks',
      inProduction: 'a provider',
      programs: BOTH,
      queues: CALLERS,
      meaning: `API of ${provider}; without it, the provider is not used in that mode`,
    },
    API_KEY: {
      kind: text,
      required: { with: `${prefix}_URL` },
      setTo: 'the API key at the provider',
      inProduction: 'random',
      isSecret: true,
      programs,
      queues: CALLERS,
      meaning: `API key at ${provider}${prefix.startsWith('EXCHANGE_PAY') ? ', which also signs requests' : ''}`,
    },
    CALLBACK_SECRET: {
      kind: text,
      required: { with: `${prefix}_URL` },
      setTo: 'the secret that signs the provider’s callbacks',
      inProduction: 'random and used once',
      isSecret: true,
      programs,
      queues: CALLERS,
      meaning: 'verifies the signatures of its callbacks',
    },
    TIMEOUT_MS: {
      kind: count(100, 10_000),
      otherwise: '8000',
      programs: BOTH,
      queues: CALLERS,
      meaning: 'request timeout; a submission that times out is in doubt',
    },
    CALLS_PER_SECOND: {
      kind: count(1, 10_000),
      programs: ['worker'],
      queues: CALLERS,
      meaning:
        'calls of payouts and payments per second, of all workers together; set the same value for every worker, see “Scaling”; without it, not limited',
    },
  } as const satisfies Record<string, Setting>;
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [`${prefix}_${name}`, row]),
  ) as { [Name in keyof typeof rows as `${Prefix}_${Name}`]: (typeof rows)[Name] };
}
