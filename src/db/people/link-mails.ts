/**
 * Mails with a link that works once (decisions/notifications#link-mails): asked for by the pages, sent by
 * the worker.
 */
import type { UserKind } from '../../domain/users';
import type { Db, Reader, Tx } from '../transaction';
import { networkOf } from './authentication-attempts';
import type { MessageStatus } from '../notifications/messages';

/** How long the link of a reset works, and how long a reset waits for the mail server. */
const RESET_MINUTES = 30;

export async function insertInvitationMail(
  tx: Tx,
  id: string,
  invitationId: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO link_mails (id, kind, email, invitation_id, expires_at)
     SELECT ?, kind, email, id, expires_at FROM invitations WHERE id = ?`,
    [id, invitationId],
  );
}

/** A request for a new password. */
export interface ResetRequest {
  kind: UserKind;
  email: string;
  /** Null if unknown. */
  address: string | null;
}

/** How many resets were asked for in the last hour: for an email address from a network, and by each alone. */
export async function countResets(
  tx: Tx,
  { kind, email, address }: ResetRequest,
): Promise<{ ofPair: number; ofEmail: number; ofNetwork: number }> {
  const recent = `FROM link_mails WHERE invitation_id IS NULL AND created_at > now() - interval '1 hour'`;
  const ofEmail = 'AND kind = ? AND lower(email) = lower(?)';
  const ofNetwork = `AND network IS NOT DISTINCT FROM ${networkOf('?')}`;
  const [counts] = await tx.query<{ ofPair: number; ofEmail: number; ofNetwork: number }>(
    `SELECT (SELECT count(*)::integer ${recent} ${ofEmail} ${ofNetwork}) AS of_pair,
            (SELECT count(*)::integer ${recent} ${ofEmail}) AS of_email,
            (SELECT count(*)::integer ${recent} ${ofNetwork}) AS of_network`,
    [kind, email, address, kind, email, address],
  );
  if (counts === undefined) throw new Error('the resets were not counted');
  return counts;
}

/** Stores a request for a new password, without looking whether the address has a user. */
export async function insertReset(
  tx: Tx,
  id: string,
  { kind, email, address }: ResetRequest,
): Promise<void> {
  await tx.query(
    `INSERT INTO link_mails (id, kind, email, network, expires_at)
     VALUES (?, ?, ?, ${networkOf('?')}, now() + ? * interval '1 minute')`,
    [id, kind, email, address, RESET_MINUTES],
  );
}

/** A reset whose link still works. */
export interface Reset {
  id: string;
  email: string;
}

const OPEN = 'invitation_id IS NULL AND used_at IS NULL AND expires_at > now()';

/** Null if unknown, used, or expired. */
export async function findReset(
  db: Reader,
  kind: UserKind,
  tokenHash: Buffer,
): Promise<Reset | null> {
  const [found] = await db.query<Reset>(
    `SELECT id, email FROM link_mails WHERE kind = ? AND token_hash = ? AND ${OPEN}`,
    [kind, tokenHash],
  );
  return found ?? null;
}

/** Uses a reset, and ends the others of its address. It returns true to only one of two at the same time. */
export async function useReset(tx: Tx, kind: UserKind, { id, email }: Reset): Promise<boolean> {
  const used = await tx.query(
    `UPDATE link_mails SET used_at = clock_timestamp() WHERE id = ? AND ${OPEN} RETURNING id`,
    [id],
  );
  await tx.query(
    `UPDATE link_mails SET expires_at = now()
      WHERE kind = ? AND lower(email) = lower(?) AND id <> ? AND ${OPEN}`,
    [kind, email, id],
  );
  return used.length === 1;
}

/** The content of a mail. A mail without a role is a reset. */
export interface LinkMail {
  /** `customer` is a customer who names the address of a refund. */
  kind: UserKind | 'customer';
  email: string;
  accountName: string | null;
  role: string | null;
  invitedBy: string | null;
}

/** The mail becomes `sending` and its token the only one. Null if there is nothing to send. */
export async function takeLinkMail(
  db: Db,
  id: string,
  tokenHash: Buffer,
): Promise<LinkMail | null> {
  const sql = 'SELECT * FROM take_link_mail(?, ?, ?)';
  const [mail] = await db.query<LinkMail>(sql, [id, tokenHash, RESET_MINUTES]);
  return mail ?? null;
}

export async function findLinkMailStatus(db: Reader, id: string): Promise<MessageStatus | null> {
  const sql = 'SELECT status FROM link_mails WHERE id = ?';
  const [found] = await db.query<{ status: MessageStatus }>(sql, [id]);
  return found?.status ?? null;
}

/** Deletes rows after four days: an invitation is open for three. */
export async function forgetLinkMails(db: Db, limit: number): Promise<void> {
  await db.query(
    `DELETE FROM link_mails WHERE id IN (
       SELECT id FROM link_mails WHERE created_at < now() - interval '4 days' ORDER BY created_at LIMIT ?)`,
    [limit],
  );
}
