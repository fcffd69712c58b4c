/** The migrations of the wallet's database while a wallet works. */
import { withClient } from '../../src/db/provision';
import { Database } from '../../src/rails/wallet/db/database';
import { migrateWallet } from '../../src/rails/wallet/db/migrate';
import { MIGRATIONS } from '../../src/rails/wallet/db/migrations';
import { REPLACED } from '../../src/rails/wallet/db/migrations/replaced';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { waitThroughFaults } from '../support/wait-for';

let database: WalletDatabase;

beforeEach(async () => {
  database = await createWalletDatabase();
});
afterEach(() => database.drop());

const LATER = { name: '9999-later', sql: 'ALTER TABLE wallet.signer ADD COLUMN later text' };

test('a migration that waits for a long transaction does not hold up the wallet', async () => {
  const wallet = new Database(database.url, { size: 4 });
  const owner = new Database(database.ownerUrl, { size: 1 });
  const isWaiting = async () => {
    const waiting = await owner.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE application_name = 'wallet-migrate' AND wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  };
  const migrating = await wallet.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM wallet.signer');
    const ended = migrateWallet(database.ownerUrl, [...MIGRATIONS, LATER]);
    await waitThroughFaults('the migration to wait', isWaiting);
    // Behind the migration in the queue for the table.
    await wallet.query('SELECT 1 FROM wallet.signer');
    return { ended };
  });
  expect(await migrating.ended).toEqual([LATER.name]);
  await wallet.query('SELECT later FROM wallet.signer');
  await Promise.all([wallet.destroy(), owner.destroy()]);
});

describe('a database of the migrations that the baseline replaces', () => {
  const namesOnRecord = () =>
    withClient(database.ownerUrl, async (owner) => {
      const { rows } = await owner.query<{ name: string }>('SELECT name FROM wallet.migration');
      return rows.map(({ name }) => name).sort();
    });
  const setRecord = (names: readonly string[]) =>
    withClient(database.ownerUrl, async (owner) => {
      await owner.query('DELETE FROM wallet.migration');
      await owner.query('INSERT INTO wallet.migration (name) SELECT unnest($1::text[])', [names]);
    });

  test('is adopted: the baseline does not run, and later migrations do', async () => {
    await withClient(database.ownerUrl, (owner) => owner.query('DROP SCHEMA wallet CASCADE'));
    const [baseline] = MIGRATIONS;
    await migrateWallet(database.ownerUrl, [baseline!]);
    await setRecord(REPLACED);
    const all = [...MIGRATIONS, LATER];
    expect(await migrateWallet(database.ownerUrl, all)).toEqual(
      all.slice(1).map(({ name }) => name),
    );
    expect(await namesOnRecord()).toEqual([...REPLACED, ...all.map(({ name }) => name)].sort());
  });

  test('is refused without one of them, and not changed', async () => {
    const older = REPLACED.filter((name) => name !== '0020-refund-address');
    await setRecord(older);
    await expect(migrateWallet(database.ownerUrl)).rejects.toThrow(
      /lacks its migrations 0020-refund-address\. Run `npm run wallet -- migrate` of the last version/,
    );
    expect(await namesOnRecord()).toEqual([...older].sort());
  });
});
