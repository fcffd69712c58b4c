/** Payment links. The customer's payment is opened when the link is used, so a link has the latest one only. */
import type { Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { PaymentStatus } from '../../domain/payment';
import { type ListPage, newestFirst, ownedBy, type Page } from '../lists';
import type { Db, Reader } from '../transaction';

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
  /** The latest payment of the link; null until a customer has chosen. */
  paymentId: string | null;
  paymentStatus: PaymentStatus | null;
  /** How many payments were opened. */
  opened: number;
}

const LINKS = {
  tableName: 'payment_links',
  read: `*, expires_at <= clock_timestamp() AS has_expired,
    (SELECT p.status FROM payments p WHERE p.id = payment_id) AS payment_status`,
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
  const sql = `SELECT ${LINKS.read} FROM payment_links WHERE id = ?`;
  const [found] = await db.query<PaymentLink>(sql, [id]);
  return found ?? null;
}

export function listLinks(db: Reader, owner: Owner, page: Page): Promise<ListPage<PaymentLink>> {
  return newestFirst<PaymentLink>(db, LINKS, page, [ownedBy(owner)]);
}

/** Notes the payment that the link has opened. The same one again changes nothing. */
export async function noteOpened(
  db: Db,
  { id, opened }: PaymentLink,
  paymentId: string,
): Promise<void> {
  await db.query(
    'UPDATE payment_links SET payment_id = ?, opened = opened + 1 WHERE id = ? AND opened = ?',
    [paymentId, id, opened],
  );
}

export async function closeLink(db: Db, id: string): Promise<void> {
  await db.query(
    'UPDATE payment_links SET closed_at = clock_timestamp() WHERE id = ? AND closed_at IS NULL',
    [id],
  );
}
