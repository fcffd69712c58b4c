/** The migrations of the wallet's database while a wallet works. */
import { connectDatabase } from '../../src/wallet/db/database';
import { migrateWallet } from '../../src/wallet/db/migrate';
import { MIGRATIONS } from '../../src/wallet/db/migrations';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { waitThroughFaults } from '../support/wait-for';

let database: WalletDatabase;

beforeAll(async () => {
  database = await createWalletDatabase();
});
afterAll(() => database.drop());

const LATER = { name: '9999-later', sql: 'ALTER TABLE wallet.signer ADD COLUMN later text' };

test('a migration that waits for a long transaction does not hold up the wallet', async () => {
  const wallet = connectDatabase(database.url, { size: 4 });
  const owner = connectDatabase(database.ownerUrl, { size: 1 });
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
  await Promise.all([wallet.close(), owner.close()]);
});
