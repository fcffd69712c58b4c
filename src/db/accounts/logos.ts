/** The logos of accounts, for the pages that customers see. */
import type { LogoType } from '../../domain/logo';
import type { Reader, Tx } from '../transaction';

export interface Logo {
  type: LogoType;
  content: Buffer;
  /** In hexadecimal. */
  sha256: string;
}

/** What the audit log keeps of a logo, and its path is made of. */
export type LogoName = Pick<Logo, 'type' | 'sha256'>;

export async function findLogoName(db: Reader, accountId: string): Promise<LogoName | null> {
  const sql = 'SELECT type, sha256 FROM account_logos WHERE account_id = ?';
  const [found] = await db.query<LogoName>(sql, [accountId]);
  return found ?? null;
}

export async function findLogo(db: Reader, sha256: string): Promise<Logo | null> {
  const sql = 'SELECT type, content, sha256 FROM account_logos WHERE sha256 = ? LIMIT 1';
  const [found] = await db.query<Logo>(sql, [sha256]);
  return found ?? null;
}

export async function saveLogo(tx: Tx, accountId: string, logo: Logo): Promise<void> {
  await tx.query(
    `INSERT INTO account_logos (account_id, type, content, sha256) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id) DO UPDATE
    SET type = excluded.type, content = excluded.content, sha256 = excluded.sha256,
        changed_at = clock_timestamp()`,
    [accountId, logo.type, logo.content, logo.sha256],
  );
}

export async function deleteLogo(tx: Tx, accountId: string): Promise<void> {
  await tx.query('DELETE FROM account_logos WHERE account_id = ?', [accountId]);
}
