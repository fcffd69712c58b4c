/** The links with which customers name the address of a refund (decisions/payments#refunds-to-address). */
import type { Owner } from '../../domain/mode';
import type { Destination } from '../../domain/destination';
import type { Refusal } from '../../domain/errors';
import type { Refund } from '../../domain/refund';
import { PAYER_ROLES } from '../../domain/users';
import { newId } from '../../platform/lib/new-id';
import type { Db, Reader, Tx } from '../transaction';

/** The content of the page of a link. The name of the account says who sends the money. */
export interface NamingRequest {
  refundId: string;
  paymentId: string;
  accountName: string;
  /** The hash of the account's logo. */
  logo: string | null;
  amount: string;
  currency: string;
  network: string | null;
  until: Date;
}

/** Null if unknown, used, replaced or expired, or the refund was taken back. */
export async function findNamingRequest(
  db: Reader,
  tokenHash: Buffer,
): Promise<NamingRequest | null> {
  const [found] = await db.query<NamingRequest>(
    `SELECT r.id AS refund_id, r.payment_id, a.name AS account_name, g.sha256 AS logo, r.amount, r.currency, p.network,
            r.address_until AS until
       FROM refund_links l JOIN payment_refunds r ON r.id = l.refund_id
       JOIN payments p ON p.id = r.payment_id JOIN accounts a ON a.id = r.account_id
       LEFT JOIN account_logos g ON g.account_id = a.id
      WHERE l.token_hash = ? AND r.state = 'ordered' AND r.payout_id IS NULL
        AND r.address_until > clock_timestamp()`,
    [tokenHash],
  );
  return found ?? null;
}

/** Stores the address that was named. It counts once the refund has a payout. */
export async function nameDestination(
  db: Db,
  tokenHash: Buffer,
  destination: Destination,
): Promise<void> {
  await db.query('UPDATE refund_links SET destination = ?::jsonb WHERE token_hash = ?', [
    JSON.stringify(destination),
    tokenHash,
  ]);
}

export async function findNamedDestination(tx: Tx, refundId: string): Promise<Destination | null> {
  const sql = 'SELECT destination FROM refund_links WHERE refund_id = ?';
  const [found] = await tx.query<{ destination: Destination | null }>(sql, [refundId]);
  return found?.destination ?? null;
}

/** A new link for an operator to hand over; the one before works no more. */
export async function replaceLink(
  tx: Tx,
  { refundId, tokenHash, madeBy }: { refundId: string; tokenHash: Buffer; madeBy: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO refund_links (refund_id, token_hash, made_by) VALUES (?, ?, ?)
         ON CONFLICT (refund_id) DO UPDATE
        SET token_hash = excluded.token_hash, made_by = excluded.made_by,
            created_at = clock_timestamp(), destination = NULL`,
    [refundId, tokenHash, madeBy],
  );
}

/**
 * Mails the link to the customer. In test mode nobody gets a mail, because the address may be a real
 * person's.
 */
export async function mailLink(
  tx: Tx,
  { id, mode, addressUntil }: Pick<Refund, 'id' | 'mode' | 'addressUntil'>,
  email: string | null,
): Promise<void> {
  if (email === null || mode === 'test') return;
  await tx.query(
    `INSERT INTO link_mails (id, kind, email, refund_id, expires_at) VALUES (?, 'customer', ?, ?, ?)`,
    [newId('linkMail'), email, id, addressUntil],
  );
}

export interface LinkMail {
  status: 'waiting' | 'sending' | 'sent' | 'refused' | 'unclear' | 'dropped';
  updatedAt: Date;
}

export async function findLinkMail(
  db: Reader,
  refundId: string,
  email: string,
): Promise<LinkMail | null> {
  const [found] = await db.query<LinkMail>(
    `SELECT status, updated_at FROM link_mails
      WHERE kind = 'customer' AND lower(email) = lower(?) AND refund_id = ?
      ORDER BY created_at DESC LIMIT 1`,
    [email, refundId],
  );
  return found ?? null;
}

/**
 * The reason why the one who asked for the refund may no longer send money; null if it may, as an operator
 * always may.
 */
export async function findRequesterFault(
  tx: Tx,
  { accountId, mode, apiKeyId }: Owner & Pick<Refund, 'apiKeyId'>,
): Promise<Refusal | null> {
  const [found] = await tx.query<{ fault: 'account_suspended' | 'invalid_api_key' | null }>(
    'SELECT refund_requester_fault(?, ?, ?::text[]) AS fault',
    [accountId, apiKeyId, [...PAYER_ROLES[mode]]],
  );
  if (found === undefined || found.fault === null) return null;
  if (found.fault === 'account_suspended') return { code: 'account_suspended' };
  const message =
    'Who asked for the refund may no longer send money. Take the refund back and ask for it again.';
  return { code: 'invalid_api_key', message };
}
