/** The ledger's checks at volume: `npm run test:long` takes a million payouts. */
import { connect } from '../../../src/db/connect';
import { proveChanges, verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { openTestDatabase } from '../../support/servers/database';
import { insertCompletedPayouts } from '../../support/merchant/large-ledger';
import { fundedBalance } from '../../support/merchant/ledger';
import { createKey } from '../../support/merchant/merchant';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';

const PROVEN = scaled(2_000, 1_000_000);
const NEW = scaled(200, 10_000);

// A million payouts take minutes to insert.
jest.setTimeout(scaled(300_000, 1_800_000));

// One connection, so that its statistics are complete.
const database = started(() => openTestDatabase({ owner: 1 }));

test(`${PROVEN} payouts, and a check of ${NEW} new ones`, async () => {
  const key = await fundedBalance(database.owner, '50000000');
  await createKey(database.owner, 'pepper', key);
  const keyOfAccount = 'SELECT id FROM api_keys WHERE account_id = ?';
  const [apiKey] = await database.owner.query<{ id: string }>(keyOfAccount, [key.accountId]);
  const all = { ...key, apiKeyId: apiKey!.id };
  await insertCompletedPayouts(
    database.owner,
    { ...all, first: 0, count: PROVEN },
    { isNoted: false },
  );
  const both = connect({ url: database.ownerUrl, size: 2, applicationName: 'ledger-volume-proof' });
  const whole = await timed('the whole proof', () => verifyLedger(both, 2));
  await both.destroy();
  expect(whole.filter(({ broken }) => broken > 0)).toEqual([]);
  expect(whole.find(({ number }) => number === 6)).toMatchObject({ checked: PROVEN });

  await database.owner.query(
    `INSERT INTO ledger_checkpoints
     SELECT account_id, mode, currency, version, available, reserved, last_posted_at FROM balances`,
  );
  await insertCompletedPayouts(
    database.owner,
    { ...all, first: PROVEN, count: NEW },
    { isNoted: true },
  );
  const before = await readAsAWhole();
  const check = () => proveChanges(database.owner, { timeoutMs: 60_000 });
  const changes = await timed('the check of what changed', check);
  // What it costs does not grow with the history.
  expect(await readAsAWhole()).toBe(before);
  expect(changes.filter(({ broken }) => broken > 0)).toEqual([]);
  expect(changes.find(({ number }) => number === 6)).toMatchObject({ checked: NEW });
});

/** How often a table of history was read as a whole. */
async function readAsAWhole(): Promise<number> {
  await database.owner.query('SELECT pg_stat_force_next_flush()');
  const [row] = await database.owner.query<{ n: number }>(
    `SELECT sum(seq_scan)::int AS n FROM pg_stat_user_tables
      WHERE relname IN ('ledger_transactions', 'ledger_entries', 'payouts', 'payments', 'events',
                        'idempotency_keys') AND schemaname = 'public'`,
  );
  return row!.n;
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  console.log(`${what}: ${Math.round(performance.now() - start)} ms`);
  return result;
}
