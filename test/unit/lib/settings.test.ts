/** The table of settings is what the programs read: names, defaults, and the secrets in files. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiConfig, readWorkerConfig } from '../../../src/config';
import { readLogLevel } from '../../../src/lib/logger';
import { withSecretFiles } from '../../../src/lib/secret-files';
import {
  GATEWAY_SETTINGS,
  OWNER_SETTINGS,
  type Setting,
  WALLET_SETTINGS,
} from '../../../src/lib/settings';
import { readWalletConfig } from '../../../src/wallet/config';
import {
  variablesOfGateway,
  variablesOfWallet,
  withNetworksFile,
} from '../../support/variables-read';

const ALL = [...GATEWAY_SETTINGS, ...OWNER_SETTINGS, ...WALLET_SETTINGS];
const names = (settings: readonly Setting[]) => settings.map(({ name }) => name).sort();

const secret = () => randomBytes(32).toString('hex');
const ENV: Record<string, string> = {
  DATABASE_URL: 'postgres://api:pass@database/gateway',
  DASHBOARD_DATABASE_URL: 'postgres://pages:pass@database/gateway',
  TEMPORAL_ADDRESS: 'temporal:7233',
  KEY_PEPPER: secret(),
  CURSOR_SECRET: secret(),
  WEBHOOK_SECRET_KEY: secret(),
  SCREENING_URL: 'https://screening.example.com',
  SCREENING_API_KEY: secret(),
  ...Object.fromEntries(
    ['ONCHAIN', 'EXCHANGE_PAY'].flatMap((prefix) =>
      ['TEST', 'LIVE'].flatMap((mode) => [
        [`${prefix}_${mode}_URL`, 'https://provider.example.com'],
        [`${prefix}_${mode}_API_KEY`, secret()],
        [`${prefix}_${mode}_CALLBACK_SECRET`, secret()],
      ]),
    ),
  ),
};

test('api and worker read the variables of the table, and no other', () => {
  expect([...variablesOfGateway()].sort()).toEqual(names(GATEWAY_SETTINGS));
});

test('a worker does not read the secrets of API keys and cursors', () => {
  const ofRequests = [...variablesOfGateway()].filter(
    (name) => !variablesOfGateway(readWorkerConfig).has(name),
  );
  expect(ofRequests.sort()).toEqual([
    'CURSOR_SECRET',
    'CURSOR_SECRETS_EARLIER',
    'KEY_PEPPER',
    'KEY_PEPPERS_EARLIER',
    'KEY_PEPPER_NEXT',
  ]);
});

test('the wallet reads the variables of its table, those it shares, and no other', () => {
  const shared = GATEWAY_SETTINGS.filter(({ programs }) => programs.includes('wallet'));
  expect([...variablesOfWallet()].sort()).toEqual(names([...WALLET_SETTINGS, ...shared]));
});

test.each(
  GATEWAY_SETTINGS.filter(({ otherwise }) => otherwise !== null).map(
    ({ name, otherwise }): [string, string] => [name, otherwise ?? ''],
  ),
)('the default of %s is %s', (name, otherwise) => {
  expect(readApiConfig({ ...ENV, [name]: otherwise })).toEqual(readApiConfig(ENV));
});

const log = () => {};
/** Of a wallet with these variables besides the required ones. */
const readWallet = (env: NodeJS.ProcessEnv) =>
  withNetworksFile((path) => {
    const credentials = {
      ONCHAIN_TEST_API_KEY: ENV['ONCHAIN_TEST_API_KEY'],
      ONCHAIN_TEST_CALLBACK_SECRET: ENV['ONCHAIN_TEST_CALLBACK_SECRET'],
    };
    const required = { WALLET_DATABASE_URL: ENV['DATABASE_URL'], WALLET_NETWORKS_FILE: path };
    const development = { GATEWAY_ENV: 'development', ...required, ...credentials };
    return readWalletConfig({ ...development, ...env }, log);
  });

test.each(WALLET_SETTINGS.filter(({ required }) => required === undefined))(
  'the default of $name is $otherwise, also when it is empty',
  ({ name, otherwise }) => {
    expect(readWallet({ [name]: '' })).toEqual(readWallet({}));
    expect(readWallet({ [name]: otherwise ?? undefined })).toEqual(readWallet({}));
  },
);

test('LOG_LEVEL is a known level, or not set', () => {
  expect([readLogLevel({}), readLogLevel({ LOG_LEVEL: '' })]).toEqual(['info', 'info']);
  expect(readLogLevel({ LOG_LEVEL: 'debug' })).toBe('debug');
  const message = 'LOG_LEVEL must be one of: trace, debug, info, warn, error, silent.';
  expect(() => readLogLevel({ LOG_LEVEL: 'loud' })).toThrow(message);
  expect(() => readApiConfig({ ...ENV, LOG_LEVEL: 'loud' })).toThrow(message);
});

test.each(
  GATEWAY_SETTINGS.filter(({ required }) => required !== undefined).map(({ name }) => name),
)('%s is required, and the message names it', (name) => {
  expect(() => readApiConfig({ ...ENV, [name]: '' })).toThrow(`${name} is not set. Set it to `);
});

test('every secret can be in a file, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'));
  const file = join(folder, 'secret');
  writeFileSync(file, 'from the file\n');
  for (const { name, isSecret } of ALL) {
    const value = withSecretFiles({ [`${name}_FILE`]: file })[name];
    expect([name, value]).toEqual([name, isSecret === true ? 'from the file' : undefined]);
  }
  rmSync(folder, { recursive: true });
});

test('what looks like a secret is one', () => {
  const looks = ALL.filter(({ name }) =>
    /SECRET|PEPPER|API_KEY|TOKEN|PASSWORD|DATABASE(_OWNER)?_URL$/.test(name),
  );
  expect(names(looks)).toEqual(names(ALL.filter(({ isSecret }) => isSecret === true)));
});
