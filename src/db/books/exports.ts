/**
 * What finance exports: the objects of a period, oldest first, and the postings of a balance in their order.
 * Each is read in pages by keyset, so that a page costs the same however long the export is.
 */
import type { StoredLine, TransactionType } from '../../domain/ledger';
import type { Owner } from '../../domain/mode';
import type { Reader } from '../transaction';
import type { BalanceKey } from '../ledger/ledger';
import { conditions, exactTime } from '../lists';

/** The number of rows that one SQL statement reads. */
const PAGE = 1_000;

/** The account, the mode and the period of an export. */
export interface ExportPeriod extends Owner {
  currency?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}

interface Source {
  from: string;
  /** The column by which the period and the order are taken. */
  at: string;
  id: string;
  currency: string;
  /** The columns of the file, each with its SQL. Those that end with `_at` are times. */
  columns: Readonly<Record<string, string>>;
}

const PAYOUT_ENDED = `CASE WHEN p.status_group = 'open' THEN NULL ELSE p.updated_at END`;
/** SQL: an amount that has left the balance; zero for a payout that was not sent. */
const sent = (amount: string) => `CASE WHEN p.status = 'completed' THEN ${amount} ELSE 0 END`;
/**
 * SQL: an amount that a refund has taken from the balance: zero while it is owed, and zero when it was
 * refused.
 */
const taken = (amount: string) =>
  `CASE WHEN p.state IN ('ordered', 'done') THEN ${amount} ELSE 0 END`;

/** Amounts: gross − service_fee − network_fee = net, the change of the balance, for what has happened so far. */
export const EXPORTED = {
  payments: {
    from: 'payments p',
    at: 'p.created_at',
    id: 'p.id',
    currency: 'p.currency',
    columns: {
      id: 'p.id',
      reference: 'p.reference',
      status: 'p.status',
      created_at: 'p.created_at',
      completed_at: 'p.completed_at',
      counterparty: 'p.customer_email',
      network: 'p.network',
      tx_hash: 'p.tx_hash',
      currency: 'p.currency',
      requested: 'p.amount',
      gross: 'p.credited_amount',
      service_fee: 'p.service_fee',
      network_fee: '0::numeric(38,8)',
      net: 'p.credited_amount - p.service_fee',
      refunded: 'p.refunded_amount',
      description: 'p.description',
    },
  },
  payouts: {
    from: 'payouts p',
    at: 'p.created_at',
    id: 'p.id',
    currency: 'p.currency',
    columns: {
      id: 'p.id',
      reference: 'p.reference',
      status: 'p.status',
      created_at: 'p.created_at',
      ended_at: PAYOUT_ENDED,
      counterparty: 'p.destination_value',
      recipient_id: 'p.recipient_id',
      batch_id: 'p.batch_id',
      network: 'p.network',
      tx_hash: 'p.tx_hash',
      currency: 'p.currency',
      requested: 'p.amount',
      gross: `(${sent('-p.amount')})::numeric(38,8)`,
      service_fee: `(${sent('p.service_fee')})::numeric(38,8)`,
      network_fee: `(${sent('p.network_fee')})::numeric(38,8)`,
      net: `(${sent('-p.total_debit')})::numeric(38,8)`,
      description: 'p.description',
    },
  },
  refunds: {
    from: 'payment_refunds p JOIN payments y ON y.id = p.payment_id',
    at: 'p.created_at',
    id: 'p.id',
    currency: 'p.currency',
    columns: {
      id: 'p.id',
      reference: 'coalesce(p.merchant_reference, p.reference)',
      payment_id: 'p.payment_id',
      payment_reference: 'y.reference',
      status: `CASE p.state WHEN 'done' THEN 'completed' WHEN 'waived' THEN 'completed'
        WHEN 'refused' THEN 'failed' ELSE 'pending' END`,
      requested_by: 'p.requested_by',
      created_at: 'p.created_at',
      ended_at: 'p.ended_at',
      counterparty: `coalesce(p.destination->>'value', y.customer_email)`,
      network: 'y.network',
      currency: 'p.currency',
      requested: 'p.amount',
      gross: `(${taken('-p.taken - p.fee')})::numeric(38,8)`,
      service_fee: `(${taken('-p.fee')})::numeric(38,8)`,
      network_fee: '0::numeric(38,8)',
      net: `(${taken('-p.taken')})::numeric(38,8)`,
      description: 'p.reason',
    },
  },
  batches: {
    from: `payout_batches p CROSS JOIN LATERAL (
      SELECT y.currency, count(*) AS rows, sum(y.amount)::numeric(38,8) AS requested,
             (count(*) FILTER (WHERE y.status = 'completed')) AS rows_sent,
             (-coalesce(sum(y.amount) FILTER (WHERE y.status = 'completed'), 0))::numeric(38,8) AS gross,
             coalesce(sum(y.service_fee) FILTER (WHERE y.status = 'completed'), 0)::numeric(38,8) AS service_fee,
             coalesce(sum(y.network_fee) FILTER (WHERE y.status = 'completed'), 0)::numeric(38,8) AS network_fee
        FROM payouts y WHERE y.batch_id = p.id GROUP BY y.currency) AS t`,
    at: 'p.created_at',
    id: `p.id || ':' || t.currency`,
    currency: 't.currency',
    columns: {
      id: 'p.id',
      reference: 'p.reference',
      status: 'p.status',
      created_at: 'p.created_at',
      ended_at: 'p.closed_at',
      currency: 't.currency',
      rows: 't.rows',
      rows_sent: 't.rows_sent',
      requested: 't.requested',
      gross: 't.gross',
      service_fee: 't.service_fee',
      network_fee: 't.network_fee',
      net: 't.gross - t.service_fee - t.network_fee',
      description: 'p.description',
    },
  },
} as const satisfies Record<string, Source>;

export type ExportedObject = keyof typeof EXPORTED;

interface Found {
  cells: (string | null)[];
  at: string;
  id: string;
}

/** The rows of a file, in the order of its columns: amounts and times as text, times in UTC. */
export async function* readObjects(
  db: Reader,
  kind: ExportedObject,
  { accountId, mode, currency, createdFrom, createdTo }: ExportPeriod,
): AsyncGenerator<(string | null)[][]> {
  const source: Source = EXPORTED[kind];
  const cells = Object.entries(source.columns).map(([name, sql]) =>
    name.endsWith('_at') ? exactTime(`(${sql})`) : `(${sql})::text`,
  );
  let after: Found | undefined;
  do {
    const { sql, bindings } = conditions([
      [`${source.currency} = ?`, currency],
      [`${source.at} >= ?`, createdFrom],
      [`${source.at} <= ?`, createdTo],
      [`(${source.at}, ${source.id}) > (?, ?)`, after?.at, after?.id],
    ]);
    const found: Found[] = await db.query<Found>(
      `SELECT ARRAY[${cells.join(', ')}] AS cells, ${exactTime(source.at)} AS at, ${source.id} AS id
         FROM ${source.from} WHERE p.account_id = ? AND p.mode = ? ${sql}
        ORDER BY ${source.at}, ${source.id} LIMIT ${PAGE}`,
      [accountId, mode, ...bindings],
    );
    if (found.length > 0) yield found.map((row) => row.cells);
    after = found.length === PAGE ? found.at(-1) : undefined;
  } while (after !== undefined);
}

/** A posting with its object, as the files show it. */
export interface ExportedPosting {
  id: string;
  version: number;
  postedAt: Date;
  type: TransactionType;
  description: string;
  sourceId: string;
  reference: string | null;
  counterparty: string | null;
  network: string | null;
  txHash: string | null;
  lines: StoredLine[];
}

/** The postings of a balance with the numbers above `first` and up to `last`, in their order. */
export async function* readPostings(
  db: Reader,
  { accountId, mode, currency }: BalanceKey,
  first: number,
  last: number,
): AsyncGenerator<ExportedPosting[]> {
  for (let from = first; from < last; from += PAGE) {
    yield await db.query<ExportedPosting>(
      `SELECT t.id, t.balance_version::integer AS version, t.posted_at, t.type, t.description,
              t.source_id, coalesce(o.reference, y.reference) AS reference,
              coalesce(o.destination_value, y.customer_email) AS counterparty,
              coalesce(o.network, y.network) AS network, coalesce(o.tx_hash, y.tx_hash) AS tx_hash,
              (SELECT json_agg(json_build_object(
                        'account', e.account, 'direction', e.direction, 'amount', e.amount::text,
                        'balanceAfter', e.balance_after::text) ORDER BY e.line)
                 FROM ledger_entries e WHERE e.transaction_id = t.id) AS lines
         FROM ledger_transactions t
         LEFT JOIN payouts o ON t.source_object = 'payout' AND o.id = t.source_id
         LEFT JOIN payments y ON t.source_object = 'payment' AND y.id = t.source_id
        WHERE (t.account_id, t.mode, t.currency) = (?, ?, ?)
          AND t.balance_version > ? AND t.balance_version <= ?
        ORDER BY t.balance_version`,
      [accountId, mode, currency, from, Math.min(from + PAGE, last)],
    );
  }
}
