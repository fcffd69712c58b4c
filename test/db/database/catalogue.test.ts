/** The catalogue that the migrations make, against what the gateway can check (decisions/payouts#destinations). */
import { connect } from '../../../src/db/connect';
import { CHECKED_NETWORKS } from '../../../src/adapters/destinations';
import { createTestDatabase } from '../../support/servers/database';

/** A transfer within a provider: to an account number or an email instead of an address. */
const WITHOUT_ADDRESSES = 'internal';

test('every network of the catalogue has a check of its addresses', async () => {
  const database = await createTestDatabase();
  const db = connect({ url: database.ownerUrl, size: 1, applicationName: 'test' });
  const found = await db.query<{ network: string }>('SELECT DISTINCT network FROM currency_routes');
  await db.destroy();
  await database.drop();
  const networks = found.map(({ network }) => network).filter((one) => one !== WITHOUT_ADDRESSES);
  expect(networks.sort()).toEqual([...CHECKED_NETWORKS].sort());
});
