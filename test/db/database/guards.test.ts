/** The guards of the database in the list (test/guards) are there: each statement that removes one can be carried out. */
import { withClient } from '../../../src/db/provision';
import { GUARDS, isOfDatabase, removalOf } from '../../guards/guard';
import { definitionOf } from '../../guards/removed';
import { createTestDatabase, createWalletDatabase } from '../../support/servers/database';

test.each([
  ['sql', createTestDatabase],
  ['wallet-sql', createWalletDatabase],
])('each guard of %s is there', async (place, create) => {
  const database = await create();
  const guards = GUARDS.flatMap(({ name, changes }) =>
    changes.filter((change) => isOfDatabase(change)).map((change) => ({ name, change })),
  ).filter(({ change }) => change.in.split(' ')[0] === place);
  expect(guards.length).toBeGreaterThan(0);
  const faults: string[] = [];
  await withClient(database.ownerUrl, async (client) => {
    await client.query('BEGIN');
    for (const { name, change } of guards) {
      await client.query('SAVEPOINT guard');
      await removalOf(change, definitionOf(client))
        .then((statement) => client.query(statement))
        .catch((error: unknown) => faults.push(`${name}: ${String(error)}`));
      await client.query('ROLLBACK TO guard');
    }
  });
  await database.drop();
  expect(faults).toEqual([]);
});
