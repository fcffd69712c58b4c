/** Second factors of users: the TOTP secret, recovery codes, passkeys, and who must have one. */
import type { SealedSecret } from '../../platform/lib/secret-box';
import { insertNewRow, rowsOf } from '../models';
import type { Db, Tx } from '../transaction';

/** The encrypted secret of an authenticator app. */
export interface StoredTotp extends SealedSecret {
  confirmedAt: Date | null;
  lastStep: number;
}

/** The text that the encrypted secret is bound to. */
export function totpOwner(userId: string): string {
  return `totp ${userId}`;
}

export async function findTotp(db: Db | Tx, userId: string): Promise<StoredTotp | null> {
  const [found] = await db.query<StoredTotp>(
    `SELECT sealed, key_id, confirmed_at, last_step::integer AS last_step FROM totp_secrets
      WHERE user_id = ?`,
    [userId],
  );
  return found ?? null;
}

/** Replaces a secret that was not confirmed; a confirmed one stays. */
export async function saveNewTotp(db: Db, userId: string, secret: SealedSecret): Promise<void> {
  await db.query(
    `INSERT INTO totp_secrets (user_id, sealed, key_id) VALUES (?, ?, ?)
     ON CONFLICT (user_id) DO UPDATE SET sealed = EXCLUDED.sealed, key_id = EXCLUDED.key_id,
       created_at = now() WHERE totp_secrets.confirmed_at IS NULL`,
    [userId, secret.sealed, secret.keyId],
  );
}

/** @returns false when somebody else confirmed it, or it was replaced meanwhile */
export async function confirmTotp(
  tx: Tx,
  userId: string,
  secret: Pick<SealedSecret, 'sealed'>,
  step: number,
): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE totp_secrets SET confirmed_at = clock_timestamp(), last_step = ?
      WHERE user_id = ? AND sealed = ? AND confirmed_at IS NULL RETURNING user_id`,
    [step, userId, secret.sealed],
  );
  return changed.length === 1;
}

/** Uses a code. It returns true to only one of two sign-ins with the same code. */
export async function useTotpStep(tx: Tx, userId: string, step: number): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE totp_secrets SET last_step = ?
      WHERE user_id = ? AND confirmed_at IS NOT NULL AND last_step < ? RETURNING user_id`,
    [step, userId, step],
  );
  return changed.length === 1;
}

export async function deleteTotp(tx: Tx, userId: string): Promise<boolean> {
  const sql = 'DELETE FROM totp_secrets WHERE user_id = ? RETURNING user_id';
  return (await tx.query(sql, [userId])).length === 1;
}

/** Locks and returns secrets that are encrypted with another key, to encrypt them again. */
export async function lockTotpsOfOtherKeys(
  tx: Tx,
  keyId: string,
  limit: number,
): Promise<(SealedSecret & { userId: string })[]> {
  return tx.query(
    `SELECT user_id, sealed, key_id FROM totp_secrets WHERE key_id <> ?
      ORDER BY user_id LIMIT ? FOR NO KEY UPDATE`,
    [keyId, limit],
  );
}

export async function replaceTotp(
  tx: Tx,
  userId: string,
  { sealed, keyId }: SealedSecret,
): Promise<void> {
  const sql = 'UPDATE totp_secrets SET sealed = ?, key_id = ? WHERE user_id = ?';
  await tx.query(sql, [sealed, keyId, userId]);
}

/** Stores recovery codes in place of all earlier ones. */
export async function replaceRecoveryCodes(
  tx: Tx,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = ?', [userId]);
  for (const hash of hashes) {
    const sql = 'INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)';
    await tx.query(sql, [userId, hash]);
  }
}

/** Uses a recovery code. It returns true to only one of two sign-ins with the same code. */
export async function useRecoveryCode(tx: Tx, userId: string, hash: Buffer): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE recovery_codes SET used_at = clock_timestamp()
      WHERE user_id = ? AND code_hash = ? AND used_at IS NULL RETURNING user_id`,
    [userId, hash],
  );
  return changed.length === 1;
}

/** The second factors that a user has. */
export interface FactorSummary {
  totp: boolean;
  passkeys: number;
  /** The number of unused codes. */
  recoveryCodes: number;
}

export async function summarizeFactors(db: Db | Tx, userId: string): Promise<FactorSummary> {
  const [found] = await db.query<FactorSummary>(
    `SELECT EXISTS (SELECT FROM totp_secrets WHERE user_id = u.id AND confirmed_at IS NOT NULL) AS totp,
            (SELECT count(*)::integer FROM passkeys WHERE user_id = u.id) AS passkeys,
            (SELECT count(*)::integer FROM recovery_codes
              WHERE user_id = u.id AND used_at IS NULL) AS recovery_codes
       FROM users u WHERE u.id = ?`,
    [userId],
  );
  return found ?? { totp: false, passkeys: 0, recoveryCodes: 0 };
}

/** A passkey as stored. */
export interface Passkey {
  id: string;
  userId: string;
  credentialId: string;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

const PASSKEY = `id, user_id, credential_id, public_key, counter::float8 AS counter, transports, name,
  created_at, last_used_at`;

export async function listPasskeys(db: Db | Tx, userId: string): Promise<Passkey[]> {
  const sql = `SELECT ${PASSKEY} FROM passkeys WHERE user_id = ? ORDER BY created_at, id LIMIT 100`;
  return db.query<Passkey>(sql, [userId]);
}

export async function findPasskey(db: Db, credentialId: string): Promise<Passkey | null> {
  const sql = `SELECT ${PASSKEY} FROM passkeys WHERE credential_id = ?`;
  const [found] = await db.query<Passkey>(sql, [credentialId]);
  return found ?? null;
}

const Passkeys = rowsOf<Passkey>('passkeys', {
  read: 'id',
  writes: 'id, user_id, credential_id, public_key, counter, transports, name',
});

/** @returns false when the credential is registered already */
export async function insertPasskey(
  tx: Tx,
  passkey: Omit<Passkey, 'createdAt' | 'lastUsedAt'>,
): Promise<boolean> {
  return (await insertNewRow(tx, Passkeys, ['credential_id'], passkey)) !== null;
}

/**
 * Notes the use of a passkey. False if the counter did not advance, so the passkey may have been copied.
 */
export async function notePasskeyUsed(tx: Tx, id: string, counter: number): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE passkeys SET counter = ?, last_used_at = clock_timestamp()
      WHERE id = ? AND (counter < ? OR (counter = 0 AND ? = 0)) RETURNING id`,
    [counter, id, counter, counter],
  );
  return changed.length === 1;
}

export async function deletePasskey(tx: Tx, userId: string, id: string): Promise<Passkey | null> {
  const sql = `DELETE FROM passkeys WHERE user_id = ? AND id = ? RETURNING ${PASSKEY}`;
  const [deleted] = await tx.query<Passkey>(sql, [userId, id]);
  return deleted ?? null;
}

/** Uses a challenge. It returns true to only one of two answers to the same challenge. */
export async function useChallenge(tx: Tx, hash: Buffer, minutes: number): Promise<boolean> {
  await tx.query(
    `DELETE FROM used_challenges WHERE hash IN (
       SELECT hash FROM used_challenges WHERE expires_at < now() ORDER BY expires_at LIMIT 100)`,
  );
  const inserted = await tx.query(
    `INSERT INTO used_challenges (hash, expires_at) VALUES (?, now() + ? * interval '1 minute')
     ON CONFLICT (hash) DO NOTHING RETURNING hash`,
    [hash, minutes],
  );
  return inserted.length === 1;
}

/** Removes every second factor of a user. */
export async function deleteFactors(tx: Tx, userId: string): Promise<void> {
  for (const table of ['totp_secrets', 'recovery_codes', 'passkeys']) {
    await tx.query(`DELETE FROM ${table} WHERE user_id = ?`, [userId]);
  }
}

/** @param scope an account's id, or null means operators */
export async function saveSecondFactorPolicy(
  tx: Tx,
  scope: string | null,
  required: boolean,
): Promise<boolean> {
  const key = scope ?? 'operators';
  const changed = required
    ? await tx.query(
        'INSERT INTO second_factor_policies (scope) VALUES (?) ON CONFLICT DO NOTHING RETURNING scope',
        [key],
      )
    : await tx.query('DELETE FROM second_factor_policies WHERE scope = ? RETURNING scope', [key]);
  return changed.length === 1;
}

/** Whether the account (null: the operators) requires a second factor. */
export async function isSecondFactorRequired(db: Db | Tx, scope: string | null): Promise<boolean> {
  const sql = 'SELECT FROM second_factor_policies WHERE scope = ?';
  return (await db.query(sql, [scope ?? 'operators'])).length === 1;
}
