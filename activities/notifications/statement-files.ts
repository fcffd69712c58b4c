/** The statements that a message has with it: one file for each month, a page for each currency. */
import { readStatement } from '../../src/db/books/month-statement';
import { listBalances } from '../../src/db/ledger/ledger';
import type { Occasion } from '../../src/db/notifications/notifications';
import { firstPostedAt } from '../../src/db/books/statements';
import type { Reader } from '../../src/db/transaction';
import { monthBounds, type Statement } from '../../src/domain/statement';
import type { MailFile } from '../../src/adapters/mail/sender';
import { statementFileName, statementPdf } from '../../src/features/books/statement-pdf';

export async function statementFiles(
  db: Reader,
  owner: { id: string; name: string; issuer: string },
  told: readonly Pick<Occasion, 'kind' | 'mode' | 'objectId'>[],
): Promise<MailFile[]> {
  const files: MailFile[] = [];
  for (const { kind, mode, objectId: month } of told) {
    if (kind !== 'statement_closed' || mode === null) continue;
    const of = { accountId: owner.id, mode };
    const statements: Statement[] = [];
    for (const { currency } of await listBalances(db, owner.id, mode)) {
      const first = await firstPostedAt(db, { ...of, currency });
      if (first === null || first >= monthBounds(month).to) continue;
      statements.push(await readStatement(db, { ...of, currency }, month));
    }
    const content = await statementPdf(statements, {
      ...of,
      ...{ owner: owner.name, issuer: owner.issuer, until: null },
    });
    files.push({ filename: statementFileName(month), content });
  }
  return files;
}
