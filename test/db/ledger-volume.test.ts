/** The ledger's checks at volume: `npm run test:long` takes a million payouts. */
import type { Knex } from 'knex';
import { connect } from '../../src/db/connect';
import { proveChanges, verifyLedger } from '../../src/db/ledger-verify';
import { rows } from '../../src/db/transaction';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { insertCompletedPayouts } from '../support/large-ledger';
import { fundedBalance } from '../support/ledger';
import { createKey } from '../support/merchant';
import { scaled } from '../support/scale';

const PROVEN = scaled(2_000, 1_000_000);
const NEW = scaled(200, 10_000);

// A million payouts take minutes to insert.
jest.setTimeout(scaled(60_000, 1_800_000));

let database: TestDatabase;
let owner: Knex;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = connect({ url: database.ownerUrl, size: 2, applicationName: 'ledger-volume' });
});

afterAll(async () => {
  await owner.destroy();
  await database.drop();
});

test(`${PROVEN} payouts, and a check of ${NEW} new ones`, async () => {
  const key = await fundedBalance(owner, '50000000');
  await createKey(owner, 'pepper', key);
  const keyOfAccount = 'SELECT id FROM api_keys WHERE account_id = ?';
  const [apiKey] = await rows<{ id: string }>(owner, keyOfAccount, [key.accountId]);
  const all = { ...key, apiKeyId: apiKey!.id };
  await insertCompletedPayouts(owner, { ...all, first: 0, count: PROVEN }, { isNoted: false });
  const whole = await timed('the whole proof', () => verifyLedger(owner, 2));
  expect(whole.filter(({ broken }) => broken > 0)).toEqual([]);
  expect(whole.find(({ number }) => number === 6)).toMatchObject({ checked: PROVEN });

  await rows(
    owner,
    `INSERT INTO ledger_checkpoints
     SELECT account_id, mode, currency, version, available, reserved, last_posted_at FROM balances`,
  );
  await insertCompletedPayouts(owner, { ...all, first: PROVEN, count: NEW }, { isNoted: true });
  const check = () => proveChanges(owner, { timeoutMs: 60_000 });
  const changes = await timed('the check of what changed', check);
  expect(changes.filter(({ broken }) => broken > 0)).toEqual([]);
  expect(changes.find(({ number }) => number === 6)).toMatchObject({ checked: NEW });
});

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  console.log(`${what}: ${Math.round(performance.now() - start)} ms`);
  return result;
}
