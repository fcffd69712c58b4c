/**
 * Occasions and the messages about them (decisions/notifications#notifications). The unique rows of
 * told_occasions decide that a person is notified once, and the guarded status of a message that it is sent at
 * most once.
 */
import { DIGEST, isAlwaysTold, type OccasionKind } from '../../domain/notifications';
import type { Mode } from '../../domain/mode';
import type { MerchantRole, OperatorRole, UserKind } from '../../domain/users';
import type { Db, Reader, Tx } from '../transaction';
import type { MessageStatus } from './messages';

/** An occasion that was taken. */
export interface Occasion {
  key: string;
  kind: OccasionKind;
  accountId: string | null;
  userId: string | null;
  mode: Mode | null;
  objectId: string;
  /** The maker of the object, who is not notified. */
  makerId: string | null;
}

/** A person who could be notified. */
export interface Person {
  id: string;
  kind: UserKind;
  email: string;
  /** In the account of the occasion, or as an operator; null means a merchant who is notified without an account. */
  role: MerchantRole | OperatorRole | null;
  /** Null if the person has not chosen. */
  isChosen: boolean | null;
}

/** A message to a person. */
export interface Notification {
  id: string;
  userId: string;
  accountId: string | null;
  kind: OccasionKind;
  status: MessageStatus;
}

const OCCASION = 'key, kind, account_id, user_id, mode, object_id, maker_id';

/** Notes the occasions that come with time: low balances, payouts that wait too long, and the end of a month. */
export async function noteWithTime(db: Db, late: LateAfter): Promise<void> {
  await db.query(
    `SELECT note_low_balances(), note_late_payouts(?, ?), note_closed_statements(clock_timestamp())`,
    [late.reviewMinutes, late.doubtMinutes],
  );
}

/** The minutes after which operators are notified of a live payout that waits. */
export interface LateAfter {
  reviewMinutes: number;
  doubtMinutes: number;
}

/** Takes and locks occasions, oldest first; those that another worker has locked are skipped. */
export function takeOccasions(tx: Tx, limit: number): Promise<Occasion[]> {
  return tx.query<Occasion>(
    `SELECT ${OCCASION} FROM occasions WHERE addressed_at IS NULL
      ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  );
}

export async function noteAddressed(tx: Tx, keys: readonly string[]): Promise<void> {
  const sql = 'UPDATE occasions SET addressed_at = clock_timestamp() WHERE key = ANY (?::text[])';
  await tx.query(sql, [[...keys]]);
}

/** The people who could be notified: those of the account, the operators, or one user, without disabled ones. */
export function listPeople(
  db: Reader,
  { kind, accountId, userId }: Pick<Occasion, 'kind' | 'accountId' | 'userId'>,
): Promise<Person[]> {
  return db.query<Person>(
    `SELECT u.id, u.kind, u.email, coalesce(m.role, u.operator_role) AS role,
            c.by_email AS is_chosen
       FROM users u
       LEFT JOIN memberships m ON m.user_id = u.id AND m.account_id = ?
       LEFT JOIN notification_choices c
         ON c.user_id = u.id AND c.account_id = coalesce(?, '') AND c.kind = ?
      WHERE u.disabled_at IS NULL AND u.id = coalesce(?, u.id)
        AND CASE WHEN ?::boolean THEN u.id = ?
                 WHEN ?::text IS NULL THEN u.operator_role IS NOT NULL ELSE m.role IS NOT NULL END`,
    [accountId, accountId, kind, userId, isAlwaysTold(kind), userId, accountId],
  );
}

/** Notes that the person is notified of the occasion; does nothing if that is noted already. */
export async function addressOccasion(tx: Tx, key: string, userId: string): Promise<void> {
  await tx.query(
    `INSERT INTO told_occasions (occasion_key, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING`,
    [key, userId],
  );
}

/** A person with occasions of a kind that can become a message. */
export interface Pending {
  userId: string;
  accountId: string | null;
  kind: OccasionKind;
}

/**
 * The people whose occasions can become a message now: they had fewer messages of the kind than a digest
 * allows.
 */
export function listPending(tx: Tx, limit: number): Promise<Pending[]> {
  return tx.query<Pending>(
    `SELECT t.user_id, o.account_id, o.kind
       FROM told_occasions t JOIN occasions o ON o.key = t.occasion_key
      WHERE t.notification_id IS NULL
      GROUP BY t.user_id, o.account_id, o.kind
     HAVING (SELECT count(*) FROM notifications n
              WHERE n.user_id = t.user_id AND n.kind = o.kind
                AND n.account_id IS NOT DISTINCT FROM o.account_id
                AND n.created_at > now() - ? * interval '1 minute') < ?
      ORDER BY min(o.created_at) LIMIT ?`,
    [DIGEST.windowMinutes, DIGEST.messages, limit],
  );
}

/** One message about everything of the kind that waits. */
export async function insertNotification(
  tx: Tx,
  id: string,
  { userId, accountId, kind }: Pending,
): Promise<void> {
  await tx.query('INSERT INTO notifications (id, user_id, account_id, kind) VALUES (?, ?, ?, ?)', [
    id,
    userId,
    accountId,
    kind,
  ]);
  await tx.query(
    `UPDATE told_occasions t SET notification_id = ?
       FROM occasions o
      WHERE o.key = t.occasion_key AND t.notification_id IS NULL AND t.user_id = ?
        AND o.kind = ? AND o.account_id IS NOT DISTINCT FROM ?`,
    [id, userId, kind, accountId],
  );
}

export async function findNotification(db: Reader, id: string): Promise<Notification | null> {
  const sql = 'SELECT id, user_id, account_id, kind, status FROM notifications WHERE id = ?';
  const [found] = await db.query<Notification>(sql, [id]);
  return found ?? null;
}

/** An occasion with the amount, the currency and the reference of its object, if it has them. */
export interface ToldOccasion extends Occasion {
  money: string | null;
}

const REFERENCE = "coalesce(', ' || x.reference, '')";
const MONEY = [
  ['payouts', REFERENCE],
  ['payments', REFERENCE],
  // Its reference is the gateway's own.
  ['payment_refunds', "''"],
]
  .map(([table, reference]) => {
    const money = `trim_scale(x.amount) || ' ' || x.currency || ${reference}`;
    return `(SELECT ${money} FROM ${table} x WHERE x.id = object_id)`;
  })
  .join(', ');

/** What a message is, in each table of what was sent. */
const MESSAGE = { told_occasions: 'notification_id', told_chats: 'message_id' } as const;

/** The occasions of a message, oldest first. */
export function listTold(
  db: Reader,
  table: keyof typeof MESSAGE,
  messageId: string,
): Promise<ToldOccasion[]> {
  return db.query<ToldOccasion>(
    `SELECT ${OCCASION}, coalesce(${MONEY}) AS money FROM occasions WHERE key IN (
       SELECT occasion_key FROM ${table} WHERE ${MESSAGE[table]} = ?)
      ORDER BY created_at`,
    [messageId],
  );
}

/** Occasions and messages are kept for 30 days. */
export async function forgetNotifications(db: Db, limit: number): Promise<number> {
  const old = `created_at < now() - interval '30 days' ORDER BY created_at LIMIT ?`;
  const gone = await db.query(
    `DELETE FROM occasions WHERE key IN (SELECT key FROM occasions WHERE ${old}) RETURNING key`,
    [limit],
  );
  const messages = await db.query(
    `DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE ${old}) RETURNING id`,
    [limit],
  );
  return Math.max(gone.length, messages.length);
}
