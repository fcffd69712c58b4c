/** The merchant's list of transactions: available and reserved, newest first, by keyset. */
import {
  merchantEntries,
  type MerchantTransaction,
  type StoredLine,
  type TransactionLine,
  type TransactionFilters,
} from '../../domain/ledger';
import type { Owner } from '../../domain/mode';
import type { Reader } from '../transaction';
import {
  conditions,
  exactTime,
  type ListPage,
  type ListQuery,
  pageOf,
  type Position,
} from '../lists';

export type TransactionListQuery = ListQuery<TransactionFilters>;

type Found = Omit<MerchantTransaction, 'entries'> & { lines: StoredLine[]; position: string };

/** Amounts are returned as text: the driver would round JSON numbers. */
const COLUMNS = `
  t.id, t.mode, t.type, t.currency, t.description, t.posted_at,
  json_build_object('object', t.source_object, 'id', t.source_id) AS source,
  (SELECT json_agg(json_build_object(
            'account', e.account, 'direction', e.direction, 'amount', e.amount::text,
            'balanceAfter', e.balance_after::text) ORDER BY e.line)
     FROM ledger_entries e WHERE e.transaction_id = t.id) AS lines,
  ${exactTime('t.posted_at')} AS position`;

function conditionsOf(filters: TransactionFilters, after: Position | null) {
  return conditions([
    ['t.currency = ?', filters.currency],
    ['t.type = ?', filters.type],
    ['t.source_id = ?', filters.sourceId],
    ['t.source_id IN (SELECT id FROM payouts WHERE batch_id = ?)', filters.batchId],
    ['t.posted_at >= ?', filters.createdFrom],
    ['t.posted_at <= ?', filters.createdTo],
    ['(t.posted_at, t.id) < (?, ?)', after?.createdAt, after?.id],
  ]);
}

export async function listTransactions(
  db: Reader,
  { accountId, mode, limit, after, filters }: TransactionListQuery,
): Promise<ListPage<MerchantTransaction>> {
  const { sql, bindings } = conditionsOf(filters, after);
  const found = await db.query<Found>(
    `SELECT ${COLUMNS} FROM ledger_transactions t
      WHERE t.account_id = ? AND t.mode = ? ${sql}
      ORDER BY t.posted_at DESC, t.id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit + 1],
  );
  const { items, next } = pageOf(found, limit);
  return { items: items.map(asMerchantTransaction), next };
}

/** The sizes of the reads that make a page. Most need the first one only; a long batch needs both. */
const READS = [100, 900];

interface Place {
  id: string;
  type: string;
  currency: string;
  batchId: string | null;
  position: string;
}

/**
 * A page in which transactions that follow each other are one line if they are of one type and currency of a batch's
 * payouts. A page reads a limited number of them, so a long batch can have a line on the next page, too.
 */
export async function listTransactionLines(
  db: Reader,
  query: TransactionListQuery,
): Promise<ListPage<TransactionLine>> {
  const runs: Place[][] = [];
  let { after } = query;
  let isEnd = false;
  for (const size of READS) {
    const places = await readPlaces(db, { ...query, after, limit: size });
    isEnd = places.length < size;
    for (const place of places) {
      const run = runs.at(-1);
      if (run !== undefined && isSameBatch(run[0], place)) run.push(place);
      else runs.push([place]);
      after = { createdAt: place.position, id: place.id };
    }
    if (isEnd || runs.length > query.limit) break;
  }
  const shown = runs.slice(0, query.limit);
  const last = shown.at(-1)?.at(-1);
  const isAll = isEnd && shown.length === runs.length;
  return {
    items: await readLines(db, shown),
    next: isAll || last === undefined ? null : { createdAt: last.position, id: last.id },
  };
}

function isSameBatch(one: Place | undefined, other: Place): boolean {
  if (one === undefined || one.batchId === null) return false;
  const { batchId, type, currency } = other;
  return one.batchId === batchId && one.type === type && one.currency === currency;
}

function readPlaces(
  db: Reader,
  { accountId, mode, limit, after, filters }: TransactionListQuery,
): Promise<Place[]> {
  const { sql, bindings } = conditionsOf(filters, after);
  return db.query<Place>(
    `SELECT t.id, t.type, t.currency, ${exactTime('t.posted_at')} AS position,
            (SELECT p.batch_id FROM payouts p WHERE p.id = t.source_id) AS batch_id
       FROM ledger_transactions t WHERE t.account_id = ? AND t.mode = ? ${sql}
      ORDER BY t.posted_at DESC, t.id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit],
  );
}

interface FoundLine extends Omit<Found, 'position'> {
  batch: TransactionLine['batch'];
}

/** The newest transaction of each run, with what all of the run have moved. The balances are those after the newest. */
async function readLines(db: Reader, runs: readonly Place[][]): Promise<TransactionLine[]> {
  if (runs.length === 0) return [];
  const places = runs.flatMap((run, n) => run.map(({ id }) => ({ id, n })));
  const found = await db.query<FoundLine>(
    `WITH run AS (SELECT id, n, place FROM unnest(?::text[], ?::int[]) WITH ORDINALITY AS r(id, n, place)),
     summed AS (
       SELECT r.n, e.account, e.direction, e.line, sum(e.amount) AS amount,
              (array_agg(e.balance_after ORDER BY r.place))[1] AS balance_after
         FROM run r JOIN ledger_entries e ON e.transaction_id = r.id
        GROUP BY r.n, e.account, e.direction, e.line),
     newest AS (SELECT n, (array_agg(id ORDER BY place))[1] AS id, count(*) AS count FROM run GROUP BY n)
     SELECT t.id, t.mode, t.type, t.currency, t.description, t.posted_at,
            json_build_object('object', t.source_object, 'id', t.source_id) AS source,
            (SELECT json_agg(json_build_object('account', s.account, 'direction', s.direction,
                      'amount', s.amount::text, 'balanceAfter', s.balance_after::text) ORDER BY s.line)
               FROM summed s WHERE s.n = w.n) AS lines,
            CASE WHEN w.count > 1 THEN (
              SELECT json_build_object('id', b.id, 'reference', b.reference, 'count', w.count)
                FROM payouts p JOIN payout_batches b ON b.id = p.batch_id WHERE p.id = t.source_id) END AS batch
       FROM newest w JOIN ledger_transactions t ON t.id = w.id ORDER BY w.n`,
    [places.map(({ id }) => id), places.map(({ n }) => n)],
  );
  return found.map(({ batch, ...one }) => ({ ...asMerchantTransaction(one), batch }));
}

/** @param id of a transaction; null if it does not exist in this account and mode */
export async function findTransaction(
  db: Reader,
  { accountId, mode, id }: Owner & { id: string },
): Promise<MerchantTransaction | null> {
  const [found] = await db.query<Found>(
    `SELECT ${COLUMNS} FROM ledger_transactions t
      WHERE t.id = ? AND t.account_id = ? AND t.mode = ?`,
    [id, accountId, mode],
  );
  if (found === undefined) return null;
  const { position: _, ...transaction } = found;
  return asMerchantTransaction(transaction);
}

function asMerchantTransaction({ lines, ...rest }: Omit<Found, 'position'>): MerchantTransaction {
  return { ...rest, entries: merchantEntries(lines) };
}
