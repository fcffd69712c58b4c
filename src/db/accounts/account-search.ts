/**
 * The dashboard's search: the objects of one account in both modes. Every part reads a few rows of an
 * index; only a part of a reference and an amount are looked for among the newest objects.
 */
import { type IdKind, kindOfId } from '../../domain/ids';
import { type Mode, MODES } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { Reader } from '../transaction';

/** An object that a merchant's search has found. */
export interface FoundOfAccount {
  /** The id of the object whose page shows it. */
  id: string;
  reference: string;
  status: string | null;
  mode: Mode;
  amount: Amount | null;
  currency: string | null;
  createdAt: Date;
}

/** A part of a reference is looked for in so many of the newest objects of a kind and mode. */
export const SEARCHED_OBJECTS = 5_000;
/** The most objects of one kind and mode that are shown. */
const FOUND_MAX = 10;

const TABLES = {
  payouts: 'id, reference, status, mode, amount, currency, created_at',
  payments: 'id, reference, status, mode, amount, currency, created_at',
  payment_links: 'id, reference, NULL AS status, mode, amount, NULL AS currency, created_at',
  payment_refunds: `id, coalesce(merchant_reference, id) AS reference,
    CASE state WHEN 'ordered' THEN 'pending' WHEN 'refused' THEN 'failed' ELSE 'completed' END AS status,
    mode, amount, currency, created_at`,
  payout_batches:
    'id, reference, status, mode, NULL::numeric AS amount, NULL AS currency, created_at',
  payout_schedules:
    'id, reference, status, mode, NULL::numeric AS amount, NULL AS currency, created_at',
  recipients: `id, name AS reference, NULL AS status, mode, NULL::numeric AS amount, currency,
    created_at`,
} as const;

type Table = keyof typeof TABLES;

interface Part {
  sql: string;
  values: readonly (string | null)[];
}

/** What a merchant searches for. */
export interface AccountSearch {
  accountId: string;
  text: string;
  /** The spellings of the text if it is an address. */
  addresses: readonly string[];
  /** What it says as an amount; null if it is none. */
  amount: Amount | null;
}

/** The objects that contain the text. */
export function findTextOfAccount(db: Reader, search: AccountSearch): Promise<FoundOfAccount[]> {
  const parts = MODES.flatMap((mode) => [
    ...(Object.keys(TABLES) as Table[]).map((table) => newest(table, mode, search)),
    ...exact(mode, search),
  ]);
  return db.query<FoundOfAccount>(
    parts.map(({ sql }) => `(${sql})`).join(' UNION ALL '),
    parts.flatMap(({ values }) => values),
  );
}

/** Among the newest objects: those with the text in the reference, in any letters, or with the amount. */
function newest(table: Table, mode: Mode, { accountId, text, amount }: AccountSearch): Part {
  return {
    sql: `SELECT * FROM (
            SELECT ${TABLES[table]} FROM ${table} WHERE account_id = ? AND mode = ?
             ORDER BY ${table}.created_at DESC, ${table}.id DESC LIMIT ${SEARCHED_OBJECTS}) AS x
           WHERE strpos(lower(x.reference), lower(?)) > 0 OR x.amount = ?::numeric
           ORDER BY x.created_at DESC, x.id DESC LIMIT ${FOUND_MAX}`,
    values: [accountId, mode, text, amount],
  };
}

/** The newest objects that have exactly the text, however old they are. */
function exact(mode: Mode, { accountId, text, addresses }: AccountSearch): Part[] {
  const part = (table: Table, where: string, values: readonly string[]): Part => ({
    sql: `SELECT ${TABLES[table]} FROM ${table} WHERE ${where} AND account_id = ? AND mode = ?
           ORDER BY created_at DESC, id DESC LIMIT ${FOUND_MAX}`,
    values: [...values, accountId, mode],
  });
  return [
    ...(['payouts', 'payments'] as const).flatMap((table) => [
      part(table, 'reference = ?', [text]),
      part(table, 'tx_hash IN (?, lower(?))', [text, text]),
    ]),
    part(
      'payments',
      'id IN (SELECT payment_id FROM payment_credits WHERE tx_hash IN (?, lower(?), upper(?)))',
      [text, text, text],
    ),
    part('payments', 'id IN (SELECT own_payments_of_customer(?))', [text]),
    ...addresses.flatMap((address) => [
      part('payments', 'deposit_address = ?', [address]),
      // The index by time has this condition.
      part('payouts', `destination_value = ? AND id > ''`, [address]),
      part('recipients', 'destination_value = ?', [address]),
    ]),
  ];
}

/** Tables with an id, and the object whose page shows the row. */
const BY_ID: Partial<Record<IdKind, string>> = {
  payment: 'SELECT mode, id AS shown_by FROM payments x',
  paymentLink: 'SELECT mode, id AS shown_by FROM payment_links x',
  payout: 'SELECT mode, id AS shown_by FROM payouts x',
  payoutBatch: 'SELECT mode, id AS shown_by FROM payout_batches x',
  payoutSchedule: 'SELECT mode, id AS shown_by FROM payout_schedules x',
  recipient: 'SELECT mode, id AS shown_by FROM recipients x',
  refund: 'SELECT mode, id AS shown_by FROM payment_refunds x',
  event: 'SELECT mode, object_id AS shown_by FROM events x',
  transaction: 'SELECT mode, source_id AS shown_by FROM ledger_transactions x',
  apiKey: 'SELECT mode, id AS shown_by FROM api_keys x',
  webhookEndpoint:
    'SELECT mode, id AS shown_by FROM webhook_endpoints x WHERE deleted_at IS NULL AND',
  webhookDelivery: `SELECT mode, d.id AS shown_by
    FROM webhook_deliveries d JOIN events x ON x.id = d.event_id`,
};

/** Null if the account has no such object. */
export async function findIdOfAccount(
  db: Reader,
  accountId: string,
  id: string,
): Promise<{ mode: Mode; shownBy: string } | null> {
  const kind = kindOfId(id);
  const select = kind === null ? undefined : BY_ID[kind];
  if (select === undefined) return null;
  const column = kind === 'webhookDelivery' ? 'd.id' : 'x.id';
  const where = select.endsWith(' AND') ? select : `${select} WHERE`;
  const [found] = await db.query<{ mode: Mode; shownBy: string }>(
    `${where} ${column} = ? AND x.account_id = ?`,
    [id, accountId],
  );
  return found ?? null;
}
