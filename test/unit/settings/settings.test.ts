/** The table of settings: what the programs read by it, and what they refuse. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiConfig, readWorkerConfig } from '../../../src/shell/config';
import {
  findSetting,
  readSetting,
  type SettingName,
  settingsOf,
} from '../../../src/platform/settings/read-settings';
import { withSecretFiles } from '../../../src/platform/settings/secret-files';
import {
  type Environment,
  ROWS,
  type Setting,
  SETTINGS,
} from '../../../src/platform/settings/settings';
import { readWalletConfig } from '../../../src/rails/wallet/config';

const secret = () => randomBytes(32).toString('hex');
const CREDENTIALS = Object.fromEntries(
  ['ONCHAIN_TEST', 'ONCHAIN_LIVE', 'EXCHANGE_PAY_TEST', 'EXCHANGE_PAY_LIVE'].flatMap((prefix) => [
    [`${prefix}_API_KEY`, secret()],
    [`${prefix}_CALLBACK_SECRET`, secret()],
  ]),
);
const GATEWAY = {
  DATABASE_URL: 'postgres://api:pass@database/gateway',
  DASHBOARD_DATABASE_URL: 'postgres://pages:pass@database/gateway',
  TEMPORAL_ADDRESS: 'temporal:7233',
  KEY_PEPPER: secret(),
  CURSOR_SECRET: secret(),
  WEBHOOK_SECRET_KEY: secret(),
  ...CREDENTIALS,
  ONCHAIN_TEST_URL: 'https://provider.example.com',
  ONCHAIN_LIVE_URL: 'https://provider.example.com',
  ONCHAIN_TEST_NETWORK_URLS: 'tron=https://key:secret@tron.example.com',
  ONCHAIN_LIVE_NETWORK_URLS: 'tron=https://key:secret@tron.example.com',
  EXCHANGE_PAY_TEST_URL: 'https://provider.example.com',
  EXCHANGE_PAY_LIVE_URL: 'https://provider.example.com',
  SCREENING_URL: 'https://screening.example.com',
  SCREENING_API_KEY: secret(),
  SMTP_URL: 'smtps://login:password@mail.example.com',
  MAIL_FROM: 'payments@example.com',
  OIDC_ISSUER: 'https://sso.example.com',
  OIDC_CLIENT_ID: 'console',
  OIDC_CLIENT_SECRET: secret(),
  OIDC_ROLE_GROUPS: 'payments-admins=admin',
  WORKER_DEPLOYMENT_NAME: 'gateway',
  WORKER_BUILD_ID: '1',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'));
  for (const name of ['networks', 'others']) {
    writeFileSync(join(folder, `${name}.json`), networkNamed(name));
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function networkNamed(name: string): string {
  const network = {
    ...{ mode: 'test', name, chain_id: 31337, native: { asset: 'ETH' }, tokens: [], finality: 1 },
    rpc_urls: ['http://127.0.0.1:8545', 'http://127.0.0.1:8546'],
  };
  return JSON.stringify({ networks: [network] });
}

const log = () => {};
const walletEnv = () => ({
  ...CREDENTIALS,
  WALLET_DATABASE_URL: 'postgres://wallet:pass@database/wallet',
  WALLET_NETWORKS_FILE: join(folder, 'networks.json'),
  WALLET_SCREENING_URL: 'https://screening.example.com',
});
const PROGRAMS = {
  api: { read: readApiConfig, env: () => GATEWAY },
  worker: { read: readWorkerConfig, env: () => GATEWAY },
  wallet: { read: (env: Environment) => readWalletConfig(env, log), env: walletEnv },
};
type Program = keyof typeof PROGRAMS;

/** The wallet's log is started before its configuration is read, and development only allows more. */
const BESIDE_THE_WALLET = ['LOG_LEVEL', 'GATEWAY_ENV'];
const OWN = (['api', 'worker', 'wallet'] as const).flatMap((program) =>
  settingsOf(program)
    .filter((name) => program !== 'wallet' || !BESIDE_THE_WALLET.includes(name))
    .map((name): [Program, SettingName] => [program, name]),
);

/** A value that the kind of the setting accepts, and that is not the one before. */
function otherValue(name: SettingName, before: string | undefined): string {
  const { kind } = SETTINGS[name];
  const { otherwise }: Setting = SETTINGS[name];
  const candidates = [
    ...['7', '777', 'on', 'webhooks', 'error', 'development', '10.0.0.0/8', secret()],
    ...[
      'postgres://other@database/gateway',
      'https://other.example.com',
      'smtp://other.example.com',
      'other@example.com',
      'others=viewer',
      'tron=https://key:secret@other.example.com',
      'USDT=7',
      Buffer.alloc(32, 7).toString('base64'),
    ],
  ];
  const accepted = candidates.filter((candidate) => {
    try {
      kind.parse(candidate);
      return true;
    } catch {
      return false;
    }
  });
  const [value] = accepted.filter((one) => one !== before && one !== otherwise);
  if (value === undefined) throw new Error(`no candidate for ${name}`);
  return name === 'WALLET_NETWORKS_FILE' ? join(folder, 'others.json') : value;
}

test.each(OWN)('%s has another configuration with another %s', (program, name) => {
  const { read, env } = PROGRAMS[program];
  const given: Environment = env();
  expect(read({ ...given, [name]: otherValue(name, given[name]) })).not.toEqual(read(given));
});

test.each(OWN)('%s takes an empty %s as not set', (program, name) => {
  const { read, env } = PROGRAMS[program];
  const outcome = (value?: string) => {
    try {
      return read({ ...env(), [name]: value });
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(outcome(' ')).toEqual(outcome());
});

test('a worker reads no setting of queues that it does not take: the keys of providers, the mail server', () => {
  const given = {
    ...GATEWAY,
    SCREENING_URL: 'https://screening.example.com',
    SCREENING_API_KEY: '',
    SMTP_URL: 'smtps://mail.example.com',
    MAIL_FROM: '',
    GATEWAY_ENV: 'test',
  };
  expect(() => readWorkerConfig(given)).toThrow('SCREENING_API_KEY is not set');
  const webhooks = readWorkerConfig({ ...given, WORKER_QUEUES: 'webhooks,webhooks-retry' });
  expect([webhooks.screening, webhooks.mail]).toEqual([null, null]);
  expect(Object.values(webhooks.providers)).toEqual([
    { test: null, live: null },
    { test: null, live: null },
  ]);
  const payments = { ...given, WORKER_QUEUES: 'payments', SCREENING_API_KEY: 'key' };
  expect(readWorkerConfig(payments)).toMatchObject({ mail: null, screening: { apiKey: 'key' } });
});

test('a worker does not read the secrets of API keys and cursors', () => {
  const read = settingsOf('worker') as string[];
  const own = settingsOf('api').filter((name) => !read.includes(name));
  expect(own.filter((name) => /PEPPER|CURSOR/.test(name)).sort()).toEqual([
    'CURSOR_SECRET',
    'CURSOR_SECRETS_EARLIER',
    'KEY_PEPPER',
    'KEY_PEPPERS_EARLIER',
    'KEY_PEPPER_NEXT',
  ]);
  const { KEY_PEPPER, CURSOR_SECRET, ...others } = GATEWAY;
  const config = JSON.stringify(readWorkerConfig(GATEWAY));
  expect(config).toBe(JSON.stringify(readWorkerConfig(others)));
  for (const known of [KEY_PEPPER, CURSOR_SECRET]) expect(config).not.toContain(known);
});

test.each(ROWS.filter(([, { kind, otherwise }]) => kind !== null && otherwise !== undefined))(
  'the default of %s is a value that it may have',
  (name) => {
    expect(readSetting(name as SettingName, {})).not.toBeNull();
  },
);

test('the default of PUBLIC_URL has the port of PORT', () => {
  expect(readSetting('PUBLIC_URL', {})).toBe('http://localhost:3000');
  expect(readSetting('PUBLIC_URL', { PORT: '4000' })).toBe('http://localhost:4000');
});

test('LOG_LEVEL is a known level, or not set', () => {
  expect([readSetting('LOG_LEVEL', {}), readSetting('LOG_LEVEL', { LOG_LEVEL: '' })]).toEqual([
    'info',
    'info',
  ]);
  expect(readSetting('LOG_LEVEL', { LOG_LEVEL: 'debug' })).toBe('debug');
  const message = 'LOG_LEVEL must be one of: trace, debug, info, warn, error, silent.';
  expect(() => readSetting('LOG_LEVEL', { LOG_LEVEL: 'loud' })).toThrow(message);
  expect(() => readApiConfig({ ...GATEWAY, LOG_LEVEL: 'loud' })).toThrow(message);
});

const required = OWN.filter(([, name]) => {
  const { required: when }: Setting = SETTINGS[name];
  return when !== undefined && when !== 'in production';
});

test.each(required.filter(([program]) => program !== 'wallet'))(
  'in %s, %s is required, and the message names it',
  (program, name) => {
    const { read, env } = PROGRAMS[program];
    expect(() => read({ ...env(), [name]: '' })).toThrow(`${name} is not set. Set it to `);
  },
);

test('one message lists everything that is missing or invalid', () => {
  const env = { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true', DATABASE_POOL_SIZE: '0' };
  const read = () => readApiConfig(env);
  expect(read).toThrow(/^The environment is invalid:\n/);
  expect(read).toThrow('DATABASE_URL is not set. Set it to a URL starting with postgres://');
  expect(read).toThrow('DATABASE_POOL_SIZE must be a whole number from 1 to 500, not "0".');
  expect(read).toThrow('KEY_PEPPER is not set. Set it to a secret of at least 32 characters.');
  expect(read).toThrow('TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not supported.');
});

test('every secret can be in a file, and nothing else', () => {
  const file = join(folder, 'secret');
  writeFileSync(file, 'from the file\n');
  for (const [name, { isSecret }] of ROWS) {
    const value = withSecretFiles({ [`${name}_FILE`]: file })[name];
    expect([name, value]).toEqual([name, isSecret === true ? 'from the file' : undefined]);
  }
});

const SECRETS = ROWS.filter(([, { isSecret }]) => isSecret === true).map(([name]) => name);

test('what looks like a secret is one', () => {
  const looks = ROWS.map(([name]) => name).filter((name) =>
    /SECRET|PEPPER|API_KEY|SIGNING_KEY|TOKEN|PASSWORD|(DATABASE(_OWNER)?|SMTP)_URL$|NETWORK_URLS$/.test(
      name,
    ),
  );
  expect(looks.sort()).toEqual([...SECRETS].sort());
});

test('a secret that is refused is not in the message', () => {
  const refused = SECRETS.filter((name) => name !== 'TEMPORAL_API_KEY').map((name) => {
    try {
      return findSetting(name as SettingName, { [name]: 'hunter2,hunter3' });
    } catch (error) {
      return (error as Error).message;
    }
  });
  const messages = refused.filter(
    (one): one is string => typeof one === 'string' && one !== 'hunter2,hunter3',
  );
  expect(messages.length).toBeGreaterThan(10);
  expect(messages.join('\n')).not.toContain('hunter');
});

test('groups may be names with commas and equals signs, and each has one known role', () => {
  const { kind } = SETTINGS.OIDC_ROLE_GROUPS;
  const roles = kind.parse('cn=Admins,ou=x=admin, payments reviewers=reviewer,staff=viewer');
  expect([...roles]).toEqual([
    ['cn=Admins,ou=x', 'admin'],
    ['payments reviewers', 'reviewer'],
    ['staff', 'viewer'],
  ]);
  for (const wrong of ['admins', 'admins=owner', 'a=admin,b', '=admin', 'a=admin,a=viewer']) {
    expect(() => kind.parse(wrong)).toThrow('must be group=role pairs with different groups');
  }
});

describe('the programs of networks', () => {
  const read = (text: string) =>
    readApiConfig({ ...GATEWAY, ONCHAIN_LIVE_NETWORK_URLS: text }).providers.onchain_provider.live;

  test('have keys of their own, which are written as in a URL', () => {
    expect(
      read('tron,bitcoin=https://a%2Fb:c%40d@one.example.com/api/ solana=http://k:s@two:81')
        ?.programs,
    ).toEqual([
      {
        ...{ networks: ['tron', 'bitcoin'], baseUrl: 'https://one.example.com/api' },
        ...{ apiKey: 'a/b', callbackSecret: 'c@d' },
      },
      { networks: ['solana'], baseUrl: 'http://two:81', apiKey: 'k', callbackSecret: 's' },
    ]);
  });

  test.each([
    'https://k:s@one.example.com',
    'tron=https://one.example.com',
    'tron=https://k@one.example.com',
    'tron=ftp://k:s@one.example.com',
    'tron=https://k:%@one.example.com',
    'tron,=https://k:s@one.example.com',
    'tron=https://k:s@one.example.com tron=https://k:s@two.example.com',
  ])('%s is refused, and its secrets are not shown', (text) => {
    expect(() => read(text)).toThrow(/ONCHAIN_LIVE_NETWORK_URLS must be networks=URL pairs/);
    expect(() => read(text)).not.toThrow(/one\.example/);
  });

  test('need the program of all other networks', () => {
    const env = {
      ...GATEWAY,
      ONCHAIN_LIVE_URL: '',
      ONCHAIN_LIVE_NETWORK_URLS: 'tron=http://k:s@h',
    };
    expect(() => readApiConfig(env)).toThrow(/ONCHAIN_LIVE_URL is not set/);
  });
});
