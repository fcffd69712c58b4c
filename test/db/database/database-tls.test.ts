/**
 * TLS to PostgreSQL by `sslmode=verify-full` in the URLs: every kind of connection is encrypted, and a server that
 * cannot prove its name gets no password.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../src/db/connect';
import { migrate } from '../../../src/db/migrate';
import { databaseUrl, ensureDatabase, withClient } from '../../../src/db/provision';
import { SharedConnections } from '../../../src/db/shared-connections';
import { type LocalPostgres, startLocalPostgres } from '../../../src/dev/local-postgres';
import { findFreePort } from '../../../src/dev/ports';
import { Database } from '../../../src/rails/wallet/db/database';
import { migrateWallet } from '../../../src/rails/wallet/db/migrate';
import { createAuthority } from '../../support/servers/throw-away-certificates';
import { waitFor } from '../../support/wait-for';

const IS_ENCRYPTED = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
const DATABASE = 'gateway_tls';

let folder: string;
let server: LocalPostgres;
/** Trusts the authority of the server's certificate, and asks for the name in it. */
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'database-tls-'));
  // PostgreSQL runs as another user when we are root.
  chmodSync(folder, 0o711);
  server = await startLocalPostgres({
    dataDir: join(folder, 'postgres'),
    port: await findFreePort(),
    logFile: join(folder, 'postgres.log'),
    log: () => undefined,
    durable: false,
  });
  await ensureDatabase(server.superuserUrl, DATABASE);
  const authority = createAuthority();
  writeFileSync(join(folder, 'root.crt'), authority.cert);
  writeFileSync(join(folder, 'other.crt'), createAuthority('Somebody else').cert);
  url = urlWith({ host: 'localhost', root: 'root.crt' });
  await requireTls(server.superuserUrl, authority.issue({ hosts: ['localhost'] }));
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function urlWith(wishes: { host: string; root?: string; sslmode?: string }): string {
  const { host, root, sslmode = 'verify-full' } = wishes;
  const changed = new URL(databaseUrl(server.superuserUrl, { database: DATABASE }));
  changed.hostname = host;
  changed.searchParams.set('sslmode', sslmode);
  if (root !== undefined) changed.searchParams.set('sslrootcert', join(folder, root));
  return changed.href;
}

/** Runs as the server's user, in its data folder, because the server must own its key. */
async function requireTls(superuserUrl: string, { key, cert }: { key: string; cert: string }) {
  await withClient(superuserUrl, async (superuser) => {
    const save = (text: string, file: string) =>
      superuser.query(
        `COPY (SELECT '${Buffer.from(text).toString('base64')}')
         TO PROGRAM 'umask 077; base64 -d > ${file}'`,
      );
    await save(key, 'server.key');
    await save(cert, 'server.crt');
    await save('hostssl all all 127.0.0.1/32 scram-sha-256\n', 'pg_hba.conf');
    await superuser.query('ALTER SYSTEM SET ssl = on');
    await superuser.query('SELECT pg_reload_conf()');
  });
  await waitFor('TLS', () => withClient(url, () => Promise.resolve(true)));
}

test('the gateway’s connections are encrypted', async () => {
  await migrate(url);
  const options = { url, size: 2, applicationName: 'test' };
  const db = connect(options);
  const short = new SharedConnections(options, db);
  try {
    expect(await db.query(IS_ENCRYPTED)).toEqual([{ ssl: true }]);
    const inOne = await db.transaction((tx) => tx.query(IS_ENCRYPTED));
    expect(inOne).toEqual([{ ssl: true }]);
    // They share writes.
    const asked = Array.from({ length: 50 }, () => short.query(IS_ENCRYPTED, []));
    expect(await Promise.all(asked)).toEqual(Array(50).fill([{ ssl: true }]));
  } finally {
    await short.destroy();
    await db.destroy();
  }
});

test('the wallet’s connections are encrypted', async () => {
  await migrateWallet(url);
  const db = new Database(url);
  try {
    expect(await db.query(IS_ENCRYPTED)).toEqual([{ ssl: true }]);
    expect(await db.transaction((tx) => tx.query(IS_ENCRYPTED))).toEqual([{ ssl: true }]);
    const holders = await db.withLock('test', () =>
      db.query(
        `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE application_name LIKE 'wallet-lock%'`,
      ),
    );
    expect(holders).toEqual([{ ssl: true }]);
  } finally {
    await db.destroy();
  }
});

test.each([
  ['another name than the certificate’s', { host: '127.0.0.1', root: 'root.crt' }, /altnames/],
  ['another authority', { host: 'localhost', root: 'other.crt' }, /unable to verify|signature/],
  ['no authority that is known', { host: 'localhost' }, /unable to verify|self[- ]signed/],
  [
    'another authority, with sslmode=require',
    { host: 'localhost', root: 'other.crt', sslmode: 'require' },
    /unable to verify|signature/,
  ],
])('a server with %s is refused', async (_, wishes, reason) => {
  const db = connect({ url: urlWith(wishes), size: 1, applicationName: 'test' });
  await expect(db.query('SELECT 1')).rejects.toThrow(reason);
  await db.destroy();
  await expect(withClient(urlWith(wishes), () => Promise.resolve())).rejects.toThrow(reason);
});

test('a server that requires TLS refuses those who ask without', async () => {
  const plain = databaseUrl(server.superuserUrl, { database: DATABASE });
  await expect(withClient(plain, () => Promise.resolve())).rejects.toThrow(/no encryption/);
});
