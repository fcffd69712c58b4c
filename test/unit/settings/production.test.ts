/** What api, worker and wallet refuse with GATEWAY_ENV=production. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiConfig } from '../../../src/shell/config';
import { gatewayEnvironment, loadSecrets } from '../../../src/dev/environment';
import { readWalletConfig } from '../../../src/rails/wallet/config';

const random = () => randomBytes(32).toString('hex');

const ENV = {
  GATEWAY_ENV: 'production',
  DATABASE_URL: 'postgres://api:pass@database/gateway',
  TEMPORAL_ADDRESS: 'temporal:7233',
  PUBLIC_URL: 'https://pay.example.com',
  KEY_PEPPER: random(),
  CURSOR_SECRET: random(),
  WEBHOOK_SECRET_KEY: random(),
  ONCHAIN_LIVE_URL: 'http://wallet:3002',
  ONCHAIN_LIVE_API_KEY: random(),
  ONCHAIN_LIVE_CALLBACK_SECRET: random(),
  SCREENING_URL: 'https://screening.example.com/questions',
  SCREENING_API_KEY: random(),
};

test('a complete configuration starts', () => {
  expect(readApiConfig(ENV)).toMatchObject({ isDevelopment: false, publicUrl: ENV.PUBLIC_URL });
});

test.each([
  ['PUBLIC_URL', '', /PUBLIC_URL is not set\. Set it to the https:\/\/ address/],
  ['PUBLIC_URL', 'http://pay.example.com', /PUBLIC_URL must start with https:\/\//],
  ['KEY_PEPPER', '', /KEY_PEPPER is not set/],
  ['KEY_PEPPER', 'short', /KEY_PEPPER is too short/],
  ['CURSOR_SECRET', 'secret'.repeat(8), /CURSOR_SECRET is not random\. Set it to a new secret/],
  ['WEBHOOK_SECRET_KEY', ENV.KEY_PEPPER, /WEBHOOK_SECRET_KEY is the same secret as KEY_PEPPER/],
  ['ONCHAIN_LIVE_CALLBACK_SECRET', 'short', /ONCHAIN_LIVE_CALLBACK_SECRET is too short/],
  ['ONCHAIN_LIVE_URL', 'http://sandbox:3001/onchain', /ONCHAIN_LIVE_URL is a simulated provider/],
  ['ONCHAIN_LIVE_URL', 'http://api.example.com', /ONCHAIN_LIVE_URL must start with https/],
  ['ONCHAIN_LIVE_URL', 'http://203.0.113.9:80', /ONCHAIN_LIVE_URL must start with https/],
  [
    'ONCHAIN_LIVE_NETWORK_URLS',
    `tron=http://${random()}:${random()}@tron.example.com`,
    /ONCHAIN_LIVE_NETWORK_URLS \(tron\) must start with https/,
  ],
  [
    'ONCHAIN_LIVE_NETWORK_URLS',
    `tron=https://${ENV.ONCHAIN_LIVE_API_KEY}:${random()}@tron.example.com`,
    /ONCHAIN_LIVE_NETWORK_URLS \(tron\) is the same secret as ONCHAIN_LIVE_API_KEY/,
  ],
  [
    'ONCHAIN_LIVE_NETWORK_URLS',
    `tron=https://short:${random()}@tron.example.com`,
    /ONCHAIN_LIVE_NETWORK_URLS \(tron\) is too short/,
  ],
  [
    'SCREENING_URL',
    '',
    /SCREENING_URL is not set, and the gateway has a live provider\. Set it to/,
  ],
  ['SCREENING_URL', 'http://sandbox:3001/sandbox/screening', /SCREENING_URL is the simulated/],
  ['SCREENING_URL', 'http://screening.example.com', /SCREENING_URL must start with https/],
  ['GATEWAY_ENV', 'prod', /GATEWAY_ENV must be one of: production, development, test\./],
])('%s=%j is refused', (name, value, reason) => {
  const refused = () => readApiConfig({ ...ENV, [name]: value });
  expect(refused).toThrow(reason);
  // One fault, and never the secret itself.
  expect(refused).toThrow(/^The environment is invalid:\n {2}- [^\n]+$/);
  if (value.length >= 32) expect(refused).not.toThrow(value);
});

test.each([
  'https://api.example.com',
  'http://10.1.2.3:3002',
  'http://wallet.internal',
  'http://[::1]:3002',
])('the provider %s is accepted', (url) => {
  expect(readApiConfig({ ...ENV, ONCHAIN_LIVE_URL: url })).toBeDefined();
  expect(readApiConfig({ ...ENV, SCREENING_URL: url })).toBeDefined();
});

test.each([
  ['none for it', { SCREENING_URL: 'none' }],
  ['no live provider', { SCREENING_URL: '', ONCHAIN_LIVE_URL: '' }],
])('with %s, nobody needs a screening service', (_what, change) => {
  expect(readApiConfig({ ...ENV, SCREENING_API_KEY: '', ...change })).toMatchObject({
    screening: null,
  });
});

test('an identity provider without TLS is refused with its remedy, and not with one for our own address', () => {
  const oidc = {
    OIDC_ISSUER: 'http://sso.example.com',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: random(),
    OIDC_ROLE_GROUPS: 'payments-admins=admin',
  };
  expect(() => readApiConfig({ ...ENV, ...oidc })).toThrow(
    /^The environment is invalid:\n {2}- OIDC_ISSUER must start with https:\/\/ in production\. Set it to the issuer of [^\n]+$/,
  );
});

test('the environment of `npm start` is refused, with everything that is wrong in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'production-'));
  const secrets = loadSecrets(join(folder, 'secrets.json'), {});
  rmSync(folder, { recursive: true });
  const ports = { api: 3000, sandbox: 3001, wallet: 3002 } as Parameters<
    typeof gatewayEnvironment
  >[0];
  const env = gatewayEnvironment(ports, secrets, {
    databaseUrl: `postgres://api:${secrets['DATABASE_PASSWORD']}@localhost/gateway`,
    dashboardUrl: null,
    temporalAddress: 'localhost:7233',
    temporalUiUrl: null,
    chainUrl: null,
  });
  expect(readApiConfig(env)).toMatchObject({ isDevelopment: true });
  const refused = () => readApiConfig({ ...env, GATEWAY_ENV: 'production' });
  for (const name of ['DATABASE_URL', 'KEY_PEPPER', 'CURSOR_SECRET', 'WEBHOOK_SECRET_KEY']) {
    expect(refused).toThrow(`${name} contains a secret that \`npm start\` generated`);
  }
  for (const name of ['ONCHAIN_TEST_URL', 'EXCHANGE_PAY_LIVE_URL']) {
    expect(refused).toThrow(`${name} is a simulated provider`);
  }
  expect(refused).toThrow('PUBLIC_URL must start with https://');
});

test('the wallet refuses the same, and needs a public URL for deposits only', () => {
  const wallet = {
    GATEWAY_ENV: 'production',
    ONCHAIN_LIVE_API_KEY: 'short',
    ONCHAIN_LIVE_CALLBACK_SECRET: random(),
  };
  const read = (more: NodeJS.ProcessEnv) => () =>
    readWalletConfig({ ...wallet, ...more }, () => {});
  expect(read({})).toThrow('ONCHAIN_LIVE_API_KEY is too short for production');
  expect(read({})).not.toThrow('WALLET_PUBLIC_URL');
  expect(read({ WALLET_LIVE_XPUB: 'xpub' })).toThrow('WALLET_PUBLIC_URL is not set');
  const key = random();
  const same = { ONCHAIN_LIVE_API_KEY: key, ONCHAIN_TEST_API_KEY: key };
  const files = { WALLET_DATABASE_URL: 'postgres://db', WALLET_NETWORKS_FILE: 'networks.json' };
  expect(read({ ...same, ...files, ONCHAIN_TEST_CALLBACK_SECRET: random() })).toThrow(
    'ONCHAIN_TEST_API_KEY and ONCHAIN_LIVE_API_KEY are the same.',
  );
  const insecure = { WALLET_PUBLIC_URL: 'http://pay.example.com' };
  expect(read(insecure)).toThrow('WALLET_PUBLIC_URL must start with https://');
});
