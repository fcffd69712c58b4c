/**
 * The console's search (decisions/pages#console-search): objects of every kind, of all accounts and both modes,
 * in one statement. Each part of it reads a few rows of one index.
 */
import { type IdKind, timeOfId } from '../../domain/ids';
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { Db } from '../transaction';

/** The most objects of one kind that are shown. */
export const FOUND_MAX = 10;

/** An object that the search has found. */
export interface Found {
  kind: IdKind;
  id: string;
  /** What a person knows it by: a reference, a name, an email address. */
  name: string | null;
  status: string | null;
  mode: Mode | null;
  amount: Amount | null;
  currency: string | null;
  accountId: string | null;
  accountName: string | null;
  createdAt: Date;
  /** The object whose page shows it; null if no page does. */
  shownBy: string | null;
  /** Whether the text is the whole reference or name, and not only its beginning. */
  isExact: boolean;
}

interface Part {
  /** Selects the columns of `COLUMNS` of at most FOUND_MAX + 1 rows. */
  sql: string;
  values: readonly string[];
}

const COLUMNS =
  'kind, id, name, status, mode, amount, currency, account_id, created_at, shown_by, is_exact';

/** The rows of a table as `COLUMNS` has them; `x` is the table. */
const ROWS = {
  payout: `'payout', x.id, x.reference, x.status, x.mode, x.amount, x.currency, x.account_id,
    x.created_at, x.id`,
  payment: `'payment', x.id, x.reference, x.status, x.mode, x.amount, x.currency, x.account_id,
    x.created_at, x.id`,
  refund: `'refund', x.id, x.merchant_reference, x.state, x.mode, x.amount, x.currency, x.account_id,
    x.created_at, x.payment_id`,
  payoutBatch: `'payoutBatch', x.id, x.reference, x.status, x.mode, NULL, NULL, x.account_id,
    x.created_at, x.id`,
  payoutSchedule: `'payoutSchedule', x.id, x.reference, x.status, x.mode, NULL, NULL, x.account_id,
    x.created_at, x.account_id`,
  recipient: `'recipient', x.id, x.name, CASE WHEN x.deleted_at IS NULL THEN NULL ELSE 'deleted' END,
    x.mode, NULL, x.currency, x.account_id, x.created_at, x.id`,
  account: `'account', x.id, x.name, x.status, NULL, NULL, NULL, NULL, x.created_at, x.id`,
  user: `'user', x.id, x.email, CASE WHEN x.disabled_at IS NULL THEN x.kind ELSE 'disabled' END,
    NULL, NULL, NULL, NULL, x.created_at,
    coalesce((SELECT min(m.account_id) FROM memberships m WHERE m.user_id = x.id), x.id)`,
  event: `'event', x.id, x.type, NULL, x.mode, NULL, NULL, x.account_id, x.created_at,
    coalesce((SELECT r.payment_id FROM payment_refunds r WHERE r.id = x.object_id), x.object_id)`,
  transaction: `'transaction', x.id, x.type, NULL, x.mode, NULL, x.currency, x.account_id, x.posted_at,
    CASE x.source_object WHEN 'adjustment' THEN x.account_id ELSE x.source_id END`,
} as const;

type Table = keyof typeof ROWS;

/** The search by id, for each kind of object. */
const BY_ID: Partial<Record<IdKind, string>> = {
  payment: `${ROWS.payment}, true FROM payments x WHERE x.id = ?`,
  paymentLink: `'paymentLink', x.id, x.reference, NULL, x.mode, x.amount, NULL, x.account_id,
    x.created_at, x.account_id, true FROM payment_links x WHERE x.id = ?`,
  payout: `${ROWS.payout}, true FROM payouts x WHERE x.id = ?`,
  payoutBatch: `${ROWS.payoutBatch}, true FROM payout_batches x WHERE x.id = ?`,
  payoutSchedule: `${ROWS.payoutSchedule}, true FROM payout_schedules x WHERE x.id = ?`,
  payoutScheduleRun: `'payoutScheduleRun', r.id, x.reference, r.status, x.mode, NULL, NULL,
    x.account_id, r.created_at, CASE r.status WHEN 'created' THEN r.batch_id ELSE x.account_id END, true
    FROM payout_schedule_runs r JOIN payout_schedules x ON x.id = r.schedule_id WHERE r.id = ?`,
  recipient: `${ROWS.recipient}, true FROM recipients x WHERE x.id = ?`,
  refund: `${ROWS.refund}, true FROM payment_refunds x WHERE x.id = ?`,
  transaction: `${ROWS.transaction}, true FROM ledger_transactions x WHERE x.id = ?`,
  adjustment: `${ROWS.transaction}, true FROM ledger_transactions x WHERE x.source_id = ?`,
  event: `${ROWS.event}, true FROM events x WHERE x.id = ?`,
  webhookEndpoint: `'webhookEndpoint', x.id, x.url, CASE WHEN x.deleted_at IS NOT NULL THEN 'deleted'
    WHEN x.enabled THEN 'enabled' ELSE 'disabled' END, x.mode, NULL, NULL, x.account_id, x.created_at,
    x.account_id, true FROM webhook_endpoints x WHERE x.id = ?`,
  webhookDelivery: `'webhookDelivery', d.id, x.type, d.status, x.mode, NULL, NULL, x.account_id, d.created_at,
    coalesce((SELECT r.payment_id FROM payment_refunds r WHERE r.id = x.object_id), x.object_id), true
    FROM webhook_deliveries d JOIN events x ON x.id = d.event_id WHERE d.id = ?`,
  apiKey: `'apiKey', x.id, x.name, CASE WHEN x.revoked_at IS NULL THEN NULL ELSE 'revoked' END, x.mode,
    NULL, NULL, x.account_id, x.created_at, x.account_id, true FROM api_keys x WHERE x.id = ?`,
  account: `${ROWS.account}, true FROM accounts x WHERE x.id = ?`,
  case: `'case', x.id, x.kind, CASE WHEN x.resolved_at IS NULL THEN 'open' ELSE 'resolved' END, NULL,
    NULL, NULL, NULL, x.created_at, x.id, true FROM cases x WHERE x.id = ?`,
  user: `${ROWS.user}, true FROM users x WHERE x.id = ?`,
  session: `'session', s.id, x.email, NULL, NULL, NULL, NULL, NULL, s.created_at, x.id, true
    FROM sessions s JOIN users x ON x.id = s.user_id WHERE s.id = ?`,
  passkey: `'passkey', k.id, x.email, NULL, NULL, NULL, NULL, NULL, k.created_at, x.id, true
    FROM passkeys k JOIN users x ON x.id = k.user_id WHERE k.id = ?`,
  invitation: `'invitation', x.id, x.email, CASE WHEN x.revoked_at IS NOT NULL THEN 'revoked'
    WHEN x.accepted_at IS NOT NULL THEN 'accepted' ELSE 'open' END, NULL, NULL, NULL, x.account_id,
    x.created_at, x.account_id, true FROM invitations x WHERE x.id = ?`,
  proposal: `'proposal', x.id, x.topic, coalesce(x.outcome, 'open'), NULL, NULL, NULL, x.account_id,
    x.created_at, x.account_id, true FROM policy_proposals x WHERE x.id = ?`,
  decision: `'decision', d.id, d.kind, d.outcome, x.mode, x.amount, x.currency, x.account_id,
    d.created_at, x.id, true
    FROM payout_decisions d JOIN payouts x ON x.id = d.payout_id WHERE d.id = ?`,
};

/** Finds the object with this id. Finds no notification, because only the worker may read those. */
export function findById(db: Db, kind: IdKind, id: string): Promise<Found[]> {
  if (kind === 'request') return findRequest(db, id);
  const sql = BY_ID[kind];
  return sql === undefined ? Promise.resolve([]) : find(db, [{ sql, values: [id] }]);
}

/**
 * A request of the API is stored by its account: it is looked for with those that sent requests on its day,
 * or the next one, when it ended after midnight.
 */
function findRequest(db: Db, id: string): Promise<Found[]> {
  const sql = `'request', x.id, x.method || ' ' || x.path, x.status::text, x.mode, NULL, NULL,
    x.account_id, x.at, x.account_id, true
    FROM request_log_days d
    JOIN request_log x ON x.account_id = d.account_id AND x.mode = d.mode AND x.id = ?
                      AND x.day_slot = (d.day % 9)::smallint
   WHERE d.day BETWEEN ?::integer AND ?::integer + 1 LIMIT 1`;
  const day = String(Math.floor(timeOfId(id) / DAY_MS));
  return find(db, [{ sql, values: [id, day, day] }]);
}

const DAY_MS = 86_400_000;

/** The text that a person typed, which is no id. */
export interface SearchedText {
  text: string;
  /** The spellings of the text if it is an address. */
  addresses: readonly string[];
}

/** The objects that the text names, by reference, address, hash, name or email address. */
export function findText(db: Db, { text, addresses }: SearchedText): Promise<Found[]> {
  return find(db, [
    starting('payout', 'payouts', 'x.reference', text, `AND x.id > ''`),
    starting('payment', 'payments', 'x.reference', text, `AND x.id > ''`),
    starting('refund', 'payment_refunds', 'x.merchant_reference', text),
    starting('payoutBatch', 'payout_batches', 'x.reference', text),
    starting('payoutSchedule', 'payout_schedules', 'x.reference', text),
    starting('recipient', 'recipients', 'lower(x.name)', text.toLowerCase()),
    starting('account', 'accounts', 'lower(x.name)', text.toLowerCase()),
    ...addresses.flatMap((address) => [
      exact('payout', 'payouts', `x.destination_value = ? AND x.id > ''`, address, 'x.created_at'),
      exact('recipient', 'recipients', 'x.destination_value = ?', address),
      exact('payment', 'payments', 'x.deposit_address = ?', address),
    ]),
    exact('payout', 'payouts', 'x.tx_hash IN (?, lower(?))', text),
    exact('payment', 'payments', 'x.tx_hash IN (?, lower(?))', text),
    exact(
      'payment',
      'payments',
      'x.id IN (SELECT payment_id FROM payment_credits WHERE tx_hash IN (?, lower(?), upper(?)))',
      text,
    ),
    exact('payment', 'payments', 'lower(x.customer_email) = lower(?)', text, 'x.created_at'),
    exact(
      'user',
      'users',
      `x.kind IN ('merchant', 'operator') AND lower(x.email) = lower(?)`,
      text,
    ),
  ]);
}

/** Rows whose column begins with the text, the whole text first: that is the order of the index. */
function starting(kind: Table, table: string, column: string, text: string, more = ''): Part {
  const start = `${text.replace(/[\\%_]/g, '\\$&')}%`;
  return {
    sql: `${ROWS[kind]}, ${column} = ? FROM ${table} x WHERE ${column} LIKE ? ${more}
           ORDER BY ${column} USING ~<~ LIMIT ${FOUND_MAX + 1}`,
    values: [text, start],
  };
}

/** @param newestBy the column by which the index has the rows of one value in order */
function exact(kind: Table, table: string, where: string, text: string, newestBy?: string): Part {
  const order = newestBy === undefined ? '' : `ORDER BY ${newestBy} DESC, x.id DESC`;
  return {
    sql: `${ROWS[kind]}, true FROM ${table} x WHERE ${where} ${order} LIMIT ${FOUND_MAX + 1}`,
    values: Array.from({ length: where.split('?').length - 1 }, () => text),
  };
}

function find(db: Db, parts: readonly Part[]): Promise<Found[]> {
  const selected = parts.map(({ sql }) => `(SELECT ${sql})`).join(' UNION ALL ');
  return db.query<Found>(
    `WITH found (${COLUMNS}) AS MATERIALIZED (${selected})
     SELECT found.*, a.name AS account_name
       FROM found LEFT JOIN accounts a ON a.id = found.account_id`,
    parts.flatMap(({ values }) => values),
  );
}
