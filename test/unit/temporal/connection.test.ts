/** The variables, files and profiles that say how to reach Temporal. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCredentials, readTemporal } from '../../../src/temporal/connection';
import { createAuthority } from '../../support/servers/throw-away-certificates';

const authority = createAuthority();
const client = authority.issue({ hosts: ['gateway'] });
const other = authority.issue({ hosts: ['other'] });

let folder: string;
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'temporal-connection-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const read = (env: Record<string, string>) =>
  readTemporal({ HOME: folder, TEMPORAL_ADDRESS: 'temporal:7233', ...env });

test('an address alone is a connection without TLS to the namespace default', () => {
  const { address, namespace, files } = read({});
  expect({ address, namespace, files }).toEqual({
    ...{ address: 'temporal:7233', namespace: 'default', files: [] },
  });
  expect(readCredentials(read({}))).toEqual({});
});

test('what compose passes as empty is not set', () => {
  const names = ['TLS', 'API_KEY', 'NAMESPACE', 'PROFILE', 'CONFIG_FILE', 'TLS_CLIENT_CERT_PATH'];
  const empty = Object.fromEntries(names.map((name) => [`TEMPORAL_${name}`, '']));
  expect(readCredentials(read(empty))).toEqual({});
  expect(() => readTemporal({ TEMPORAL_ADDRESS: ' ' })).toThrow(
    'TEMPORAL_ADDRESS is not set. Set it to the host:port of the Temporal frontend.',
  );
});

test('an API key turns TLS on, and comes from a file that is read again', () => {
  expect(readCredentials(read({ TEMPORAL_API_KEY: 'one' }))).toEqual({
    tls: true,
    apiKey: 'one',
  });
  const path = file('key', 'two\n');
  const options = read({ TEMPORAL_API_KEY_FILE: path });
  expect(readCredentials(options)).toMatchObject({ apiKey: 'two' });
  file('key', 'three\n');
  expect(readCredentials(options)).toMatchObject({ apiKey: 'three' });
  expect(options.files).toEqual([path]);
});

test('certificates come from files', () => {
  const paths = {
    TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt', client.cert),
    TEMPORAL_TLS_CLIENT_KEY_PATH: file('pem', client.key),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('ca', authority.cert),
  };
  const options = read({ ...paths, TEMPORAL_TLS_SERVER_NAME: 'temporal' });
  expect(options.files).toEqual(Object.values(paths));
  expect(readCredentials(options)).toEqual({
    tls: {
      serverNameOverride: 'temporal',
      serverRootCACertificate: Buffer.from(authority.cert),
      clientCertPair: { crt: Buffer.from(client.cert), key: Buffer.from(client.key) },
    },
  });
});

test('a profile is read if somebody asks for it, and variables take precedence', () => {
  mkdirSync(join(folder, '.config/temporalio'), { recursive: true });
  const toml =
    '[profile.default]\nnamespace = "of-the-home"\n[profile.prod]\naddress = "prod:7233"\nnamespace = "prod"\n';
  file('.config/temporalio/temporal.toml', toml);
  const path = file('other.toml', toml);
  expect(read({}).namespace).toBe('default');
  expect(readTemporal({ HOME: folder, TEMPORAL_PROFILE: 'prod' })).toMatchObject({
    ...{ address: 'prod:7233', namespace: 'prod' },
  });
  expect(read({ TEMPORAL_CONFIG_FILE: path, TEMPORAL_PROFILE: 'prod' })).toMatchObject({
    ...{ address: 'temporal:7233', namespace: 'prod', files: [path] },
  });
});

test.each<[string, () => Record<string, string>, RegExp]>([
  [
    'a certificate without its key',
    () => ({ TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt', client.cert) }),
    /TEMPORAL_TLS_CLIENT_CERT_PATH is set without TEMPORAL_TLS_CLIENT_KEY_PATH/,
  ],
  [
    'a key without its certificate',
    () => ({ TEMPORAL_TLS_CLIENT_KEY_PATH: file('pem', client.key) }),
    /TEMPORAL_TLS_CLIENT_KEY_PATH is set without TEMPORAL_TLS_CLIENT_CERT_PATH/,
  ],
  [
    'a key of another certificate',
    () => ({
      TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt', client.cert),
      TEMPORAL_TLS_CLIENT_KEY_PATH: file('pem', other.key),
    }),
    /does not belong to its key/,
  ],
  [
    'a missing file',
    () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'gone') }),
    /certificates for Temporal cannot be used: .*gone/,
  ],
  [
    'a missing profile file',
    () => ({ TEMPORAL_CONFIG_FILE: join(folder, 'gone.toml') }),
    /TEMPORAL_CONFIG_FILE: .*gone.toml does not exist/,
  ],
  [
    'a profile that does not exist',
    () => ({ TEMPORAL_CONFIG_FILE: file('a.toml', ''), TEMPORAL_PROFILE: 'prod' }),
    /profile/i,
  ],
  [
    'a misspelt setting in a profile',
    () => ({ TEMPORAL_CONFIG_FILE: file('a.toml', '[profile.default]\nadress = "a:1"\n') }),
    /adress/,
  ],
  ['an empty API key file', () => ({ TEMPORAL_API_KEY_FILE: file('key', '\n') }), /is empty/],
  [
    'a connection that checks nobody',
    () => ({ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }),
    /not supported/,
  ],
])('%s is refused', (_what, env, message) => {
  expect(() => read(env())).toThrow(message);
});
