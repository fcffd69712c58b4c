/**
 * Checks the ledger's invariants. `npm run ledger:verify` prints the result, and the schedule
 * `ledger-check` pauses payouts if one is broken. It can run at any time while the gateway is
 * running, and with the application's role.
 */
import { columnOf } from '../column-names';
import type { DifferenceKind } from '../../domain/cases';
import { differencesSql } from '../books/reconciliation-differences';
import { LEDGER_INVARIANTS, type LedgerInvariant } from './ledger-invariants';
import { type Db, exportSnapshot, onOneSnapshot, type Tx } from '../transaction';

/** A sample is enough to start an investigation; a broken ledger may have a million rows. */
const ROWS_SHOWN_MAX = 20;

export interface InvariantResult extends Pick<LedgerInvariant, 'number' | 'name' | 'sentence'> {
  /** How many of `noun` were checked. */
  checked: number;
  noun: string;
  /** How many rows break it; 0 when it holds. */
  broken: number;
  /** The first of these rows. */
  rows: Record<string, unknown>[];
}

/**
 * The whole proof: checks the invariants on all of the gateway's own data, on one snapshot. It writes
 * nothing, so it can run on a standby.
 * @param connections two are faster, because PostgreSQL runs the expensive sorts on one core each; only
 *   for a pool that nobody else waits for
 */
export async function verifyLedger(db: Db, connections: 1 | 2 = 1): Promise<InvariantResult[]> {
  return onOneSnapshot(db, async (tx) => {
    const waiting = LEDGER_INVARIANTS.toSorted((a, b) => rankOf(a) - rankOf(b));
    const results: InvariantResult[] = [];
    const work = async (connection: Tx): Promise<void> => {
      try {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          results.push(await check(connection, next, NOTHING_PROVEN));
        }
      } finally {
        // After a failure the other connection takes no further invariant.
        waiting.length = 0;
      }
    };
    const snapshot = connections === 2 ? await exportSnapshot(tx) : null;
    const second = snapshot === null ? [] : [onOneSnapshot(db, work, { snapshot })];
    const ended = await Promise.allSettled([work(tx), ...second]);
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return results.toSorted((a, b) => a.number - b.number);
  });
}

/** Numbers of invariants, the most expensive first, so that both connections end together. */
const SLOWEST_FIRST = [3, 6, 10, 1, 2, 11];

function rankOf({ number }: LedgerInvariant): number {
  const rank = SLOWEST_FIRST.indexOf(number);
  return rank === -1 ? SLOWEST_FIRST.length : rank;
}

/**
 * Checks the invariants on what has changed since the last proof, and notes the new proof if they all
 * hold. It costs what changed: entries are immutable, so a balance is proven up to a version, and the
 * sums of its later entries must lead from there to the present figures. Triggers note in
 * `ledger_changes` which payouts and payments changed; what the snapshot shows of it is checked, and
 * exactly that is deleted, so a transaction that commits late is checked the next time.
 * @throws when it takes longer than `timeoutMs`; PostgreSQL cancels the statement
 */
export async function proveChanges(
  db: Db,
  { timeoutMs }: { timeoutMs: number },
): Promise<InvariantResult[]> {
  const prove = async (tx: Tx): Promise<InvariantResult[]> => {
    await tx.query('LOCK TABLE ledger_proof IN SHARE ROW EXCLUSIVE MODE');
    // ANALYZE then reads 3,000 rows of each slice instead of 30,000.
    await tx.query('SET LOCAL default_statistics_target = 10');
    // PostgreSQL takes a third of a table for what a range returns, and would read all of it.
    await tx.query('SET LOCAL enable_seqscan = off');
    for (const statement of SLICES) await tx.query(statement);
    await tx.query('SET LOCAL enable_seqscan = on');
    const results = await checkAll(tx, '');
    if (results.every(({ broken }) => broken === 0)) {
      for (const statement of NOTE_PROOF) await tx.query(statement);
    }
    await tx.query(NOTE_REPORT, [JSON.stringify(results)]);
    return results;
  };
  return onOneSnapshot(db, prove, { timeoutMs, readOnly: false });
}

/** What the last check found. */
export interface LedgerReport {
  checkedAt: Date;
  /** When a check last succeeded. */
  provenAt: Date;
  /** The number of balances in the whole ledger. */
  balances: number;
  transactions: number;
  /** The invariants, checked on the objects that had changed. */
  invariants: InvariantResult[];
}

/** Null before the first check. */
export async function readLedgerReport(db: Db): Promise<LedgerReport | null> {
  const [found] = await db.query<Omit<LedgerReport, keyof Stored> & { report: Stored }>(
    'SELECT checked_at, report, proven_at FROM ledger_report, ledger_proof WHERE report IS NOT NULL',
  );
  if (found === undefined) return null;
  const { report, ...times } = found;
  return { ...times, ...report };
}

type Stored = Pick<LedgerReport, 'balances' | 'transactions' | 'invariants'>;

/** When the ledger was last proven. */
export async function readProvenAt(db: Db): Promise<Date> {
  const [proof] = await db.query<{ provenAt: Date }>('SELECT proven_at FROM ledger_proof');
  if (proof === undefined) throw new Error('ledger_proof has no row');
  return proof.provenAt;
}

/** Hides what an earlier proof has proven, for the whole proof. */
const NOTHING_PROVEN = `
  WITH ledger_proven AS NOT MATERIALIZED (SELECT * FROM ledger_checkpoints WHERE false)`;

/** The temporary tables take the place of the tables with these names in the invariants' queries. */
const SLICES = [
  slice(
    'changed',
    `SELECT object_id AS id FROM ledger_changes
      UNION
     SELECT t.source_id
       FROM balances b LEFT JOIN ledger_checkpoints c USING (account_id, mode, currency)
      CROSS JOIN LATERAL (
        SELECT source_id FROM ledger_transactions n
         WHERE (n.account_id, n.mode, n.currency) = (b.account_id, b.mode, b.currency)
           AND n.balance_version > coalesce(c.version, 0)
        OFFSET 0) AS t
      WHERE b.version > coalesce(c.version, 0)`,
  ),
  slice('ledger_proven', 'SELECT * FROM ledger_checkpoints'),
  slice(
    'ledger_transactions',
    ofChanged(
      'ledger_transactions',
      'source_id',
      `id, operation_key, account_id, mode, currency, type, source_object, source_id,
       balance_version, posted_at`,
    ),
  ),
  slice(
    'ledger_entries',
    `SELECT e.* FROM ledger_transactions t CROSS JOIN LATERAL (
       SELECT * FROM public.ledger_entries WHERE transaction_id = t.id OFFSET 0) AS e`,
  ),
  slice(
    'payouts',
    ofChanged(
      'payouts',
      'id',
      'id, account_id, mode, currency, reference, status, sequence, total_debit, api_key_id',
    ),
  ),
  slice('payments', ofChanged('payments', 'id', '*')),
  slice('payment_credits', ofChanged('payment_credits', 'payment_id', '*')),
  slice('payment_refunds', ofChanged('payment_refunds', 'payment_id', '*')),
  slice(
    'events',
    `SELECT v.account_id, v.mode, v.id, v.object_id, v.sequence,
            -- Only the last one is read.
            CASE WHEN v.sequence = o.sequence THEN v.body END AS body
       FROM (${ofChanged('events', 'object_id', '*')}) AS v
       LEFT JOIN (SELECT id, sequence FROM payouts UNION ALL SELECT id, sequence FROM payments) AS o
         ON o.id = v.object_id`,
  ),
  slice(
    'idempotency_keys',
    ofChanged(
      'idempotency_keys',
      'object_id',
      'account_id, mode, key, object_id, state, response_status, response_body',
    ),
  ),
].flat();

/** By index: without OFFSET, a hash join could read all of a large table for a few of its rows. */
function ofChanged(table: string, column: string, columns: string): string {
  return `SELECT r.* FROM changed CROSS JOIN LATERAL (
    SELECT ${columns} FROM public.${table} WHERE ${column} = changed.id OFFSET 0) AS r`;
}

function slice(name: string, query: string): string[] {
  return [`CREATE TEMPORARY TABLE ${name} ON COMMIT DROP AS ${query}`, `ANALYZE pg_temp.${name}`];
}

const NOTE_PROOF = [
  `INSERT INTO ledger_checkpoints AS c
   SELECT account_id, mode, currency, version, available, reserved, last_posted_at FROM balances
       ON CONFLICT (account_id, mode, currency) DO UPDATE
      SET version = excluded.version, available = excluded.available,
          reserved = excluded.reserved, posted_at = excluded.posted_at
    WHERE c.version <> excluded.version`,
  'DELETE FROM ledger_changes',
  'UPDATE ledger_proof SET proven_at = now()',
];

/** Versions count the postings of a balance. */
const NOTE_REPORT = `
  UPDATE ledger_report SET checked_at = now(), report = (
    SELECT jsonb_build_object('balances', count(*), 'transactions', coalesce(sum(version), 0),
                              'invariants', ?::jsonb)
      FROM balances)`;

/** Separate from the others: it depends on the providers, and a break does not pause payouts. */
const STATEMENTS_INVARIANT: LedgerInvariant = {
  number: 8,
  name: 'provider statements match the ledger',
  sentence:
    'Each transfer has the same amount and outcome in the ledger and in the provider’s statement as ' +
    'last read, and neither side lacks a transfer of the other.',
  checks: {
    noun: 'provider entries',
    countSql: 'SELECT count(*)::int AS n FROM provider_entries',
  },
  sql: differencesSql({ unlessNoted: false }),
};

export interface StatementsResult extends InvariantResult {
  /** The earliest reading time of all statements; null if one has not been read yet. */
  readAt: Date | null;
}

/** Compares the copy of the providers' statements with the ledger. */
export async function verifyStatements(db: Db): Promise<StatementsResult> {
  return onOneSnapshot(db, async (tx) => {
    const [oldest] = await tx.query<{ readAt: Date | null }>(
      `SELECT CASE WHEN bool_and(read_at IS NOT NULL) THEN min(read_at) END AS read_at
         FROM provider_statements`,
    );
    return { ...(await check(tx, STATEMENTS_INVARIANT, '')), readAt: oldest?.readAt ?? null };
  });
}

export interface ReconciliationDifference {
  kind: DifferenceKind;
  objectId: string;
  details: Record<string, unknown>;
}

/** Differences without a case. @param only these kinds; all kinds by default */
export async function findNewDifferences(
  db: Db,
  limit: number,
  only?: readonly DifferenceKind[],
): Promise<ReconciliationDifference[]> {
  return onOneSnapshot(db, (tx) =>
    tx.query<ReconciliationDifference>(
      `SELECT kind, object_id, details
         FROM (${differencesSql({ unlessNoted: true, only })}) AS new LIMIT ?`,
      [limit],
    ),
  );
}

async function checkAll(tx: Tx, common: string): Promise<InvariantResult[]> {
  const results: InvariantResult[] = [];
  for (const invariant of LEDGER_INVARIANTS) results.push(await check(tx, invariant, common));
  return results;
}

/** @param common expressions (WITH …) that the invariant's query can use */
async function check(
  tx: Tx,
  { number, name, sentence, checks, sql }: LedgerInvariant,
  common: string,
): Promise<InvariantResult> {
  const [counted] = await tx.query<{ n: number }>(checks.countSql);
  // The columns keep their SQL names: an operator uses them in further queries.
  const broken = await tx.query<Record<string, unknown> & { totalRows: number }>(
    `${common} SELECT found.*, count(*) OVER ()::int AS total_rows FROM (${sql}) AS found
      LIMIT ${ROWS_SHOWN_MAX}`,
  );
  return {
    number,
    name,
    sentence,
    checked: counted?.n ?? 0,
    noun: checks.noun,
    broken: broken[0]?.totalRows ?? 0,
    rows: broken.map(({ totalRows, ...row }) =>
      Object.fromEntries(Object.entries(row).map(([field, value]) => [columnOf(field), value])),
    ),
  };
}
