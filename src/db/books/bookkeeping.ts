/** How an account keeps its books. */
import type { Bookkeeping } from '../../domain/bookkeeping';
import type { Db, Reader, Tx } from '../transaction';

export async function readBookkeeping(
  db: Db | Tx | Reader,
  accountId: string,
): Promise<Bookkeeping> {
  const [found] = await db.query<Bookkeeping>(
    'SELECT time_zone, journal_accounts, tax_rate FROM accounts WHERE id = ?',
    [accountId],
  );
  if (found === undefined) throw new Error(`account ${accountId} does not exist`);
  return found;
}

export async function saveBookkeeping(
  tx: Tx,
  accountId: string,
  { timeZone, journalAccounts, taxRate }: Bookkeeping,
): Promise<void> {
  await tx.query(
    'UPDATE accounts SET time_zone = ?, journal_accounts = ?::jsonb, tax_rate = ? WHERE id = ?',
    [timeZone, JSON.stringify(journalAccounts), taxRate, accountId],
  );
}
