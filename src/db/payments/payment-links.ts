/** Payment links. The customer's payment is opened when the link is used, and another one when the customer switches. */
import type { Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import { DECIDABLE, type Payment, PAID_STATUSES, type PaymentStatus } from '../../domain/payment';
import { type ListPage, newestFirst, ownedBy, type Page } from '../lists';
import { type Db, type Reader, sqlList } from '../transaction';

/** What a link asks for. */
export interface LinkTerms extends Owner {
  id: string;
  userId: string;
  amount: Amount;
  /** Each is a currency and a network, or a provider for transfers within it, such as `USDT tron`. */
  routes: string[];
  reference: string;
  /** The other fields of the payment request. */
  request: Record<string, string>;
}

export interface PaymentLink extends LinkTerms {
  expiresAt: Date;
  hasExpired: boolean;
  closedAt: Date | null;
  createdAt: Date;
  /** The one that counts comes first, and those without money are in the order of time, the latest first. */
  payments: LinkPayment[];
  /** How many payments were opened. */
  opened: number;
}

export interface LinkPayment {
  id: string;
  status: PaymentStatus;
  currency: string;
  receivedAmount: Amount;
}

/** SQL: the conditions of a payment of the link, which its references find by their index. */
const IS_OF_LINK = `p.account_id = l.account_id AND p.mode = l.mode AND p.metadata->>'payment_link' = l.id
  AND p.reference = ANY (link_references(l.reference, l.opened))`;

const LINKS = {
  tableName: 'payment_links AS l',
  read: `*, expires_at <= clock_timestamp() AS has_expired,
    (SELECT coalesce(json_agg(json_build_object(
              'id', p.id, 'status', p.status, 'currency', p.currency, 'receivedAmount', p.received_amount::text)
            ORDER BY array_position(ARRAY[${sqlList(PAID_STATUSES)}], p.status), p.created_at DESC, p.id DESC), '[]')
       FROM payments p WHERE ${IS_OF_LINK}) AS payments`,
};

/** @returns false if the id or the reference is taken */
export async function insertLink(
  db: Db,
  link: LinkTerms,
  { validSeconds }: { validSeconds: number },
): Promise<boolean> {
  const rows = await db.query(
    `INSERT INTO payment_links (id, account_id, mode, user_id, amount, routes, reference, request, expires_at)
     VALUES (?, ?, ?, ?, ?, ?::text[], ?, ?::jsonb, clock_timestamp() + make_interval(secs => ?))
         ON CONFLICT DO NOTHING RETURNING id`,
    [
      ...[link.id, link.accountId, link.mode, link.userId, link.amount, link.routes],
      ...[link.reference, JSON.stringify(link.request), validSeconds],
    ],
  );
  return rows.length > 0;
}

export async function findLink(db: Reader, id: string): Promise<PaymentLink | null> {
  const sql = `SELECT ${LINKS.read} FROM ${LINKS.tableName} WHERE id = ?`;
  const [found] = await db.query<PaymentLink>(sql, [id]);
  return found ?? null;
}

export function listLinks(db: Reader, owner: Owner, page: Page): Promise<ListPage<PaymentLink>> {
  return newestFirst<PaymentLink>(db, LINKS, page, [ownedBy(owner)]);
}

/** Notes that the link has as many payments. The same number again changes nothing. */
export async function noteOpened(db: Db, id: string, opened: number): Promise<void> {
  await db.query('UPDATE payment_links SET opened = ? WHERE id = ? AND opened < ?', [
    ...[opened, id, opened],
  ]);
}

/** The checkouts of a link that are open although another payment of it has money. */
export function listNeedless(db: Db, linkId: string): Promise<Payment[]> {
  return db.query<Payment>(
    `WITH of_link AS (SELECT p.* FROM payment_links l JOIN payments p ON ${IS_OF_LINK} WHERE l.id = ?)
     SELECT * FROM of_link WHERE status IN (${sqlList(DECIDABLE.cancel)})
        AND EXISTS (SELECT FROM of_link WHERE status IN (${sqlList(PAID_STATUSES)}))`,
    [linkId],
  );
}

export async function closeLink(db: Db, id: string): Promise<void> {
  await db.query(
    'UPDATE payment_links SET closed_at = clock_timestamp() WHERE id = ? AND closed_at IS NULL',
    [id],
  );
}
