/** Attempts with passwords and codes that were not accepted, kept as long as a limit counts them. */
import type { UserKind } from '../../domain/users';
import type { Db, Tx } from '../transaction';

/** An attempt to sign in: who, from where, and in which browser. */
export interface Attempt {
  kind: UserKind;
  email: string;
  step: 'password' | 'code';
  /** Null if unknown. */
  address: string | null;
  /** The browser, if this user signed in with it before; null means an unknown one. */
  device: string | null;
}

/** The numbers of failed attempts, each with this one. */
export interface AttemptCounts {
  id: string;
  /** Attempts in this known browser. */
  ofDevice: number;
  /** Attempts for this email address from this network. */
  ofPair: number;
  /** Attempts for any email address of this site from this network. */
  ofNetwork: number;
  /** Attempts for this email address in unknown browsers, from everywhere. */
  ofEmail: number;
  /** The attempts of `ofEmail` in the last seconds only. */
  ofEmailJustNow: number;
}

/** The network of an address. An IPv6 address belongs to a customer's network of 64 bits. */
export const networkOf = (address: string) =>
  `(SELECT CASE family(address) WHEN 6 THEN network(set_masklen(address, 64))::inet ELSE address END
  FROM (SELECT ${address}::inet AS address) AS given)`;

/** Records an attempt before it is checked, so that attempts at the same time count. */
export async function recordAttempt(
  db: Db,
  { kind, email, step, address, device }: Attempt,
  window: { minutes: number; seconds: number },
): Promise<AttemptCounts> {
  const [inserted] = await db.query<{ id: string }>(
    `INSERT INTO authentication_attempts (kind, email, step, network, device)
     VALUES (?, lower(?), ?, ${networkOf('?')}, ?) RETURNING id`,
    [kind, email, step, address, device],
  );
  if (inserted === undefined) throw new Error('the attempt was not inserted');
  const [counts] = await db.query<Omit<AttemptCounts, 'id'>>(
    `WITH recent AS (
       SELECT id, kind, email, network, step, device, at FROM authentication_attempts
        WHERE kind = ? AND network IS NOT DISTINCT FROM ${networkOf('?')}
          AND at > now() - ? * interval '1 minute'
       UNION
       SELECT id, kind, email, network, step, device, at FROM authentication_attempts
        WHERE kind = ? AND email = lower(?) AND at > now() - ? * interval '1 minute'
     ), own AS (
       SELECT *, kind = ? AND email = lower(?) AND step = ? AS is_same,
              network IS NOT DISTINCT FROM ${networkOf('?')} AS is_here FROM recent
     )
     SELECT count(*) FILTER (WHERE is_same AND device = ?)::integer AS of_device,
            count(*) FILTER (WHERE is_same AND is_here)::integer AS of_pair,
            count(*) FILTER (WHERE is_here)::integer AS of_network,
            count(*) FILTER (WHERE is_same AND device IS NULL)::integer AS of_email,
            count(*) FILTER (WHERE is_same AND device IS NULL
                               AND at > now() - ? * interval '1 second')::integer AS of_email_just_now
       FROM own`,
    [
      kind,
      address,
      window.minutes,
      kind,
      email,
      window.minutes,
      kind,
      email,
      step,
      address,
      device,
      window.seconds,
    ],
  );
  if (counts === undefined) throw new Error('the attempts were not counted');
  return { ...counts, id: inserted.id };
}

/** Whether the user had a session in this network in the last 90 days. */
export async function isKnownNetwork(
  db: Db | Tx,
  { kind, email, address }: Pick<Attempt, 'kind' | 'email' | 'address'>,
): Promise<boolean> {
  if (address === null) return false;
  const [found] = await db.query(
    `SELECT FROM users u JOIN sessions s ON s.user_id = u.id
      WHERE u.kind = ? AND lower(u.email) = lower(?) AND s.address IS NOT NULL
        AND s.created_at > now() - interval '90 days'
        AND ${networkOf('s.address')} = ${networkOf('?')} LIMIT 1`,
    [kind, email, address],
  );
  return found !== undefined;
}

export async function deleteAttempt(db: Db, id: string): Promise<void> {
  await db.query('DELETE FROM authentication_attempts WHERE id = ?', [id]);
}

/** Deletes attempts that no limit counts any more. */
export async function deleteOldAttempts(db: Db, minutes: number): Promise<void> {
  await db.query(
    `DELETE FROM authentication_attempts WHERE id IN (
       SELECT id FROM authentication_attempts WHERE at < now() - ? * interval '1 minute'
        ORDER BY at LIMIT 100)`,
    [minutes],
  );
}

/**
 * Deletes old sessions, invitations, attempts and challenges, up to this many of each.
 * @returns how many were deleted
 */
export async function forgetOldSignIns(db: Db, limit: number): Promise<number> {
  const [forgotten] = await db.query<{ n: number }>('SELECT forget_old_sign_ins(?) AS n', [limit]);
  return forgotten?.n ?? 0;
}
