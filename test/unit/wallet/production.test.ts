/** What the wallet refuses in production about the keys that it signs with. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWalletConfig } from '../../../src/rails/wallet/config';
import { isExposed } from '../../../src/rails/wallet/signer/production';

const PASSWORD = 'secret-of-the-service';
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

let folder: string;
let keystore: { kind: 'keystore'; file: string; password_file: string };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wallet-production-'));
  keystore = {
    ...{ kind: 'keystore', file: join(folder, 'hot.json') },
    password_file: join(folder, 'hot.password'),
  };
  for (const path of [keystore.file, keystore.password_file]) {
    writeFileSync(path, 'content', { mode: 0o600 });
  }
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The start of a wallet whose hot wallet has this signer. */
const startWith = (signer: object, more: NodeJS.ProcessEnv = {}) => {
  const network = {
    ...{ mode: 'live', name: 'ethereum', chain_id: 1, native: { asset: 'ETH' } },
    rpc_urls: ['https://one.example', 'https://two.example'],
    payouts: { signer },
  };
  const networks = join(folder, 'networks.json');
  writeFileSync(networks, JSON.stringify({ networks: [network] }));
  return () =>
    readWalletConfig(
      {
        GATEWAY_ENV: 'production',
        WALLET_DATABASE_URL: 'postgres://wallet@database/wallet',
        WALLET_NETWORKS_FILE: networks,
        ONCHAIN_LIVE_API_KEY: randomBytes(32).toString('hex'),
        ONCHAIN_LIVE_CALLBACK_SECRET: randomBytes(32).toString('hex'),
        ...more,
      },
      () => {},
    );
};

test('files of its user alone are accepted', () => {
  expect(startWith(keystore)).not.toThrow();
  chmodSync(keystore.file, 0o400);
  expect(startWith(keystore)).not.toThrow();
});

test.each([
  ['file', '0604'],
  ['file', '0644'],
  ['password_file', '0644'],
  ['password_file', '0660'],
] as const)('a %s with the mode %s is refused, with the remedy', (name, mode) => {
  chmodSync(keystore[name], mode);
  expect(startWith(keystore)).toThrow(
    `${keystore[name]} has the mode ${mode}: other users can read or change it.`,
  );
  expect(startWith(keystore)).toThrow(`chmod 600 ${keystore[name]}`);
  expect(startWith(keystore, { GATEWAY_ENV: '' })).not.toThrow();
});

test('the key of a client certificate too', () => {
  chmodSync(keystore.file, 0o644);
  const files = { certificate_file: join(folder, 'wallet.pem'), key_file: keystore.file };
  const remote = { kind: 'remote', url: 'https://signer.internal:9000', address: ADDRESS };
  expect(startWith({ ...remote, ...files })).toThrow(`chmod 600 ${keystore.file}`);
});

test.each([
  ['its owner alone', 1000, 0o600, false],
  ['its owner alone, to read', 1000, 0o400, false],
  ['the group of a file that root owns, as Kubernetes mounts Secrets', 0, 0o440, false],
  ['the group of a file that a user owns', 1000, 0o640, true],
  ['the group of a file that root owns, to write', 0, 0o660, true],
  ['everybody', 1000, 0o604, true],
  ['everybody, a file that root owns', 0, 0o644, true],
])('access for %s', (_, uid, mode, expected) => {
  // 0o100000: a file.
  expect(isExposed({ uid, mode: 0o100000 | mode })).toBe(expected);
});

const remote = (url: string) => ({ kind: 'remote', url, address: ADDRESS });

test.each([
  'http://signer.internal:9000',
  `http://wallet:${PASSWORD}@10.0.0.7:9000`,
  'http://127.example.com',
  'http://localhost.example.com',
])('a signing service at %s is refused', (url) => {
  expect(startWith(remote(url))).toThrow(
    'The signer of ethereum in live mode has a url with http://.',
  );
  expect(startWith(remote(url))).not.toThrow(PASSWORD);
  expect(startWith(remote(url), { GATEWAY_ENV: '' })).not.toThrow();
});

test.each([
  'https://signer.internal:9000',
  'http://127.0.0.1:9000',
  'http://127.1.2.3:9000',
  'http://[::1]:9000',
  'http://localhost:9000',
])('a signing service at %s is accepted', (url) => {
  expect(startWith(remote(url))).not.toThrow();
});
