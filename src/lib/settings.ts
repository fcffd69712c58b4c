/**
 * Every environment variable of the programs. The tables in docs/operations.md are generated from it
 * (`npm run settings`), the variables with `_FILE` come from it, and tests compare it with what
 * src/config.ts and src/wallet/config.ts read.
 */
export interface Setting {
  name: string;
  /** What the programs use without it; null: none. */
  otherwise: string | null;
  /** Instead of a default: when it must be set. */
  required?: string;
  /** The programs that use it. */
  programs: readonly ProgramName[];
  /** Can be read from a file, and never appears in a log. */
  isSecret?: true;
  /** In Markdown. */
  meaning: string;
}

export type ProgramName = 'api' | 'worker' | 'wallet' | 'migrate' | 'admin';

const BOTH = ['api', 'worker'] as const;
const WITH_ADMIN = [...BOTH, 'admin'] as const;
const OF_TEMPORAL = [...BOTH, 'wallet', 'admin'] as const;
const REQUIRED = { otherwise: null, required: 'required' } as const;
const SECRET = { isSecret: true } as const;

export const GATEWAY_SETTINGS: readonly Setting[] = [
  {
    name: 'DATABASE_URL',
    ...REQUIRED,
    ...SECRET,
    programs: BOTH,
    meaning:
      'PostgreSQL URL of the program’s login: `gateway_api_1` for `api`, `gateway_worker_1` for `worker`, such as `postgres://gateway_api_1:…@host:5432/gateway`; see “TLS to PostgreSQL”',
  },
  {
    name: 'DATABASE_POOL_SIZE',
    otherwise: '20',
    programs: BOTH,
    meaning: 'maximum connections of this process, 1 to 500',
  },
  {
    name: 'DATABASE_STATEMENT_TIMEOUT_MS',
    otherwise: '15000',
    programs: BOTH,
    meaning:
      'PostgreSQL ends a statement after this time, 500 to 60 000; without an answer 3 s later, its connection is given up',
  },
  {
    name: 'DASHBOARD_DATABASE_URL',
    otherwise: null,
    ...SECRET,
    programs: ['api'],
    meaning:
      'PostgreSQL URL of the login `gateway_dashboard_1`; with it, `api` serves `/dashboard` and `/console`',
  },
  {
    name: 'DASHBOARD_DATABASE_POOL_SIZE',
    otherwise: '10',
    programs: ['api'],
    meaning: 'maximum connections of the pages, 1 to 500',
  },
  {
    name: 'DASHBOARD_HOST',
    otherwise: null,
    programs: ['api'],
    meaning:
      'the only host (and port) that `/dashboard` is served on, such as `dashboard.example.com`; without it, every host',
  },
  {
    name: 'CONSOLE_HOST',
    otherwise: null,
    programs: ['api'],
    meaning: 'the same for `/console`; put it in a private network, see “The console”',
  },
  {
    name: 'CONSOLE_URL',
    otherwise: null,
    programs: ['worker'],
    meaning:
      'where operators open the console, such as `https://ops.example.com/console`; the pages of payout workflows link to it',
  },
  {
    name: 'TEMPORAL_ADDRESS',
    ...REQUIRED,
    programs: OF_TEMPORAL,
    meaning: 'host:port of the Temporal frontend',
  },
  {
    name: 'TEMPORAL_NAMESPACE',
    otherwise: 'default',
    programs: OF_TEMPORAL,
    meaning: 'the Temporal namespace of the gateway; its wallet uses the same',
  },
  {
    name: 'TEMPORAL_API_KEY',
    otherwise: null,
    ...SECRET,
    programs: OF_TEMPORAL,
    meaning: 'API key, as for Temporal Cloud; turns TLS on; a file is read again every minute',
  },
  {
    name: 'TEMPORAL_TLS',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning: '`true` or `false`; certificates and an API key turn it on without it',
  },
  {
    name: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning: 'PEM file of the client certificate, for mutual TLS; read again every minute',
  },
  {
    name: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning: 'PEM file of its key; required with the certificate',
  },
  {
    name: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning:
      'PEM file of the authority that signed the server’s certificate; without it, the public ones',
  },
  {
    name: 'TEMPORAL_TLS_SERVER_NAME',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning: 'name in the server’s certificate, if it differs from the host of the address',
  },
  {
    name: 'TEMPORAL_PROFILE',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning:
      'profile in the file of profiles that the Temporal CLI also reads; other variables take precedence',
  },
  {
    name: 'TEMPORAL_CONFIG_FILE',
    otherwise: null,
    programs: OF_TEMPORAL,
    meaning:
      'TOML file of profiles; with a profile and without this, `~/.config/temporalio/temporal.toml`',
  },
  {
    name: 'TEMPORAL_UI_URL',
    otherwise: null,
    programs: ['api'],
    meaning:
      'URL of the Temporal UI for operators, such as `https://temporal.example.com`; with it, the console links each object to its workflow',
  },
  {
    name: 'PORT',
    otherwise: '3000',
    programs: ['api'],
    meaning: 'port of `api`; 0 selects a free port',
  },
  {
    name: 'HOST',
    otherwise: null,
    programs: ['api'],
    meaning:
      'address that `api` listens on, such as `127.0.0.1` behind a proxy on the same machine; without it, all addresses',
  },
  {
    name: 'API_DRAIN_MS',
    otherwise: '0',
    programs: ['api'],
    meaning:
      'how long a stopping `api` still takes requests while `/readyz` is 503, so that a load balancer sends the next ones elsewhere; longer than two of its checks',
  },
  {
    name: 'PUBLIC_URL',
    otherwise: 'http://localhost:3000',
    programs: WITH_ADMIN,
    meaning:
      'base URL of the API for merchants, without `/api/v1`; used in the links of lists and of invitations, and for passkeys; webhooks are not sent to its host. The default has the port of PORT. In production it is required and starts with `https://`',
  },
  {
    name: 'TRUSTED_PROXY_HOPS',
    otherwise: '0',
    programs: ['api'],
    meaning:
      'number of proxies in front that append to X-Forwarded-For, 0 to 10; a wrong number breaks address allowlists',
  },
  {
    name: 'KEY_PEPPER',
    ...REQUIRED,
    ...SECRET,
    programs: ['api', 'admin'],
    meaning: 'at least 32 characters, without a comma: API keys are stored as an HMAC with it',
  },
  {
    name: 'KEY_PEPPER_NEXT',
    otherwise: null,
    ...SECRET,
    programs: ['api'],
    meaning: 'the pepper that becomes KEY_PEPPER next: keys with it are accepted already',
  },
  {
    name: 'KEY_PEPPERS_EARLIER',
    otherwise: null,
    ...SECRET,
    programs: ['api'],
    meaning:
      'earlier peppers, separated by commas: keys with them are accepted, and stored with KEY_PEPPER when they are used',
  },
  {
    name: 'CURSOR_SECRET',
    ...REQUIRED,
    ...SECRET,
    programs: ['api'],
    meaning: 'at least 32 characters, without a comma: signs list cursors',
  },
  {
    name: 'CURSOR_SECRETS_EARLIER',
    otherwise: null,
    ...SECRET,
    programs: ['api'],
    meaning: 'other secrets, separated by commas: cursors with them are accepted',
  },
  ...['TEST', 'LIVE'].flatMap((mode) => providerSettings('ONCHAIN', 'the on-chain provider', mode)),
  ...['TEST', 'LIVE'].flatMap((mode) => providerSettings('EXCHANGE_PAY', 'Exchange Pay', mode)),
  {
    name: 'SCREENING_URL',
    otherwise: null,
    programs: WITH_ADMIN,
    meaning:
      'service that clears the destinations of live payouts ([screening.md](screening.md)); a worker that starts with it requires its answers until `admin screening remove service`',
  },
  {
    name: 'SCREENING_API_KEY',
    otherwise: null,
    required: 'with the URL',
    ...SECRET,
    programs: WITH_ADMIN,
    meaning: 'bearer key at that service',
  },
  {
    name: 'SCREENING_TIMEOUT_MS',
    otherwise: '5000',
    programs: WITH_ADMIN,
    meaning: 'request timeout, 100 to 10 000; without an answer, the payout waits',
  },
  {
    name: 'WORKER_QUEUES',
    otherwise: 'payouts,payments,webhooks,webhooks-retry,providers',
    programs: ['worker'],
    meaning:
      'task queues that this worker takes: `payouts`, `payments`, `webhooks`, `webhooks-retry`, `providers` (all calls to providers), separated by commas',
  },
  {
    name: 'WORKER_DEPLOYMENT_NAME',
    otherwise: null,
    programs: ['worker'],
    meaning:
      'name of the worker deployment, such as `gateway`; with it, workers have versions, see “Worker versions”',
  },
  {
    name: 'WORKER_BUILD_ID',
    otherwise: null,
    programs: ['worker'],
    meaning: 'version of this build, such as `2027-01-15`; required with WORKER_DEPLOYMENT_NAME',
  },
  {
    name: 'MAX_CACHED_WORKFLOWS',
    otherwise: '300',
    programs: ['worker'],
    meaning: 'workflows that a worker keeps in memory, 2 to 100 000',
  },
  {
    name: 'WORKER_GRACE_MS',
    otherwise: '15000',
    programs: ['worker'],
    meaning:
      'how long a stopping worker waits for running activities; a webhook attempt takes up to 12 s',
  },
  {
    name: 'WORKFLOW_BUNDLE',
    otherwise: null,
    programs: ['worker'],
    meaning:
      'workflow bundle made by `npm run build`; set by `npm run start:worker` and the image; without it, bundled at the start',
  },
  {
    name: 'WEBHOOK_SECRET_KEY',
    ...REQUIRED,
    ...SECRET,
    programs: WITH_ADMIN,
    meaning:
      'at least 32 characters: encrypts the secrets of webhook endpoints and of authenticator apps',
  },
  {
    name: 'WEBHOOK_SECRET_KEYS_EARLIER',
    otherwise: null,
    ...SECRET,
    programs: WITH_ADMIN,
    meaning: 'other keys, separated by commas; used for decryption only',
  },
  {
    name: 'WEBHOOK_ALLOW_CIDRS',
    otherwise: null,
    programs: WITH_ADMIN,
    meaning:
      'private networks that test webhooks may be sent to, such as `10.1.0.0/16`; logged at start',
  },
  {
    name: 'WEBHOOK_LIVE_ALLOW_CIDRS',
    otherwise: null,
    programs: WITH_ADMIN,
    meaning:
      'the same for live and test webhooks; a decision of its own, as live events concern money',
  },
  {
    name: 'WEBHOOK_DENY_CIDRS',
    otherwise: null,
    programs: WITH_ADMIN,
    meaning: 'public networks that webhooks must not be sent to; takes precedence',
  },
  {
    name: 'GATEWAY_ENV',
    otherwise: null,
    programs: ['api', 'worker', 'wallet', 'admin'],
    meaning:
      '`production` in the image: no demo merchant, no `dev:fund`, and the programs refuse settings of development (see below); only `npm start` sets `development`',
  },
  {
    name: 'METRICS_PORT',
    otherwise: null,
    programs: ['api', 'worker', 'wallet'],
    meaning:
      'private port of each process for `/metrics`, and in `api` and `worker` `/readyz` with details; `0` takes any free port; not served without it',
  },
  {
    name: 'METRICS_HOST',
    otherwise: '127.0.0.1',
    programs: ['api', 'worker', 'wallet'],
    meaning: 'address of that port; in a container set `0.0.0.0` and do not publish the port',
  },
  {
    name: 'LOG_LEVEL',
    otherwise: 'info',
    programs: ['api', 'worker', 'wallet'],
    meaning:
      '`trace`, `debug`, `info`, `warn`, `error` or `silent`; logs are JSON lines on stdout, written within 250 ms; a process that is killed with SIGKILL loses what it had not written',
  },
  {
    name: 'TRACE_CONTEXT',
    otherwise: 'off',
    programs: ['api'],
    meaning:
      '`on`: a request’s `traceparent` (W3C Trace Context), or a new one, goes with its payout or payment to the provider and the webhooks, and log lines have its `trace_id`',
  },
];

/** Of the programs that change the schema or what it contains. */
export const OWNER_SETTINGS: readonly Setting[] = [
  {
    name: 'DATABASE_OWNER_URL',
    ...REQUIRED,
    ...SECRET,
    programs: ['migrate', 'admin'],
    meaning:
      'PostgreSQL URL of the role that owns the schema; `admin` can also use a login in `gateway_admin`. Keep it away from `api` and `worker`',
  },
];

/** `GATEWAY_ENV` and `LOG_LEVEL` are the gateway's. */
export const WALLET_SETTINGS: readonly Setting[] = [
  {
    name: 'WALLET_DATABASE_URL',
    ...REQUIRED,
    ...SECRET,
    programs: ['wallet'],
    meaning: 'PostgreSQL URL of the wallet’s login, a member of the role `wallet_app`',
  },
  {
    name: 'WALLET_DATABASE_OWNER_URL',
    otherwise: null,
    ...SECRET,
    programs: ['wallet'],
    meaning: 'login that owns the schema `wallet`; with it, the start applies the migrations',
  },
  {
    name: 'WALLET_NETWORKS_FILE',
    ...REQUIRED,
    programs: ['wallet'],
    meaning:
      'JSON file with the networks, their RPC URLs, tokens and signers ([wallet.md](wallet.md)); protect it like a secret',
  },
  {
    name: 'WALLET_HOST',
    otherwise: '127.0.0.1',
    programs: ['wallet'],
    meaning: 'address to listen on',
  },
  {
    name: 'WALLET_PORT',
    otherwise: '3002',
    programs: ['wallet'],
    meaning: 'port to listen on; 0 selects a free port',
  },
  {
    name: 'WALLET_PUBLIC_URL',
    otherwise: null,
    programs: ['wallet'],
    meaning:
      'where browsers open the payment pages; without it, the listening address. In production it starts with `https://`, and is required while the wallet takes deposits',
  },
  {
    name: 'WALLET_TEST_XPUB',
    otherwise: null,
    programs: ['wallet'],
    meaning:
      'extended public key of the deposit addresses in test mode; without it, no deposits in that mode',
  },
  {
    name: 'WALLET_LIVE_XPUB',
    otherwise: null,
    programs: ['wallet'],
    meaning: 'the same for live mode',
  },
  {
    name: 'WALLET_SCREENING_URL',
    otherwise: null,
    programs: ['wallet'],
    meaning: 'a service that clears or holds each deposit',
  },
  {
    name: 'WALLET_SCREENING_TOKEN',
    otherwise: null,
    ...SECRET,
    programs: ['wallet'],
    meaning: 'bearer token for that service',
  },
  {
    name: 'WALLET_CALLBACK_BASE_URL',
    otherwise: null,
    programs: ['wallet'],
    meaning:
      'the gateway; callbacks go to `<it>/provider-callbacks/onchain_provider/<mode>`; without it, no callbacks',
  },
  {
    name: 'WALLET_WORKFLOW_BUNDLE',
    otherwise: null,
    programs: ['wallet'],
    meaning:
      'workflow bundle of the wallet, made by `npm run build`; set by `npm run start:wallet` and the image; without it, bundled at the start',
  },
];

const SECRETS = new Set(
  [...GATEWAY_SETTINGS, ...OWNER_SETTINGS, ...WALLET_SETTINGS]
    .filter(({ isSecret }) => isSecret)
    .map(({ name }) => name),
);

/** Whether a variable can be read from a file. */
export function isSecretSetting(name: string): boolean {
  return SECRETS.has(name);
}

function providerSettings(prefix: string, provider: string, mode: string): Setting[] {
  const withWallet = prefix === 'ONCHAIN' ? ([...BOTH, 'wallet'] as const) : BOTH;
  const where = `${provider} in ${mode.toLowerCase()} mode`;
  const credential = { otherwise: null, required: 'with the URL', ...SECRET };
  return [
    {
      name: `${prefix}_${mode}_URL`,
      otherwise: null,
      programs: BOTH,
      meaning: `API of ${where}; without it, the provider is not used in that mode`,
    },
    {
      name: `${prefix}_${mode}_API_KEY`,
      ...credential,
      programs: withWallet,
      meaning: `API key at ${where}${prefix === 'EXCHANGE_PAY' ? ', which also signs requests' : ''}`,
    },
    {
      name: `${prefix}_${mode}_CALLBACK_SECRET`,
      ...credential,
      programs: withWallet,
      meaning: 'verifies the signatures of its callbacks',
    },
    {
      name: `${prefix}_${mode}_TIMEOUT_MS`,
      otherwise: '8000',
      programs: BOTH,
      meaning: 'request timeout, 100 to 10 000; a submission that times out is in doubt',
    },
    {
      name: `${prefix}_${mode}_CALLS_PER_SECOND`,
      otherwise: null,
      programs: ['worker'],
      meaning:
        'calls of payouts and payments per second, of all workers together, 1 to 10 000; set the same value for every worker, see “Scaling”; without it, not limited',
    },
  ];
}
