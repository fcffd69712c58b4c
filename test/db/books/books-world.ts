/** A merchant with a year of postings, for the parts of this room: they read it, and keep to their own otherwise. */
import { EXPORT_PAGE } from '../../../src/features/books/dashboard/transactions-file';
import { newId } from '../../../src/platform/lib/new-id';
import type { Db } from '../../../src/db/transaction';
import { fund } from '../../support/merchant/merchant';
import { insertCompletedPayouts } from '../../support/merchant/large-ledger';
import { makeUser, PageClient } from '../../support/merchant/page-client';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startHarness } from '../http-harness';

/** More than one page of the export. */
export const PAYOUTS = EXPORT_PAGE;

/** The number of postings that a page may add up here. */
export const ALL = 5_000;

async function startBooks() {
  const harness = await startHarness();
  const gateway = await harness.startGateway();
  const accountId = await harness.createAccount();
  const client = new PageClient(gateway.url);
  await client.signIn(await makeUser(harness.owner, 'merchant', 'viewer', accountId));
  await fund(harness.owner, accountId, 'test', 'USDT', '20000');
  await fund(harness.owner, accountId, 'test', 'BTC', '3');
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  const batch = { ...key, apiKeyId: newId('apiKey'), first: 1, count: PAYOUTS };
  await insertCompletedPayouts(harness.owner, batch, { isNoted: false });
  await spreadOverMonths(harness.owner, accountId);
  return {
    accountId,
    client,
    owner: harness.owner,
    database: harness.database,
    stop: () => harness.stop(),
  };
}

export const startedBooks = () => started(sharedInRoom('books', startBooks));

/** The postings are of now; a year of them needs other times in the same order. */
async function spreadOverMonths(owner: Db, accountId: string): Promise<void> {
  await owner.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(
      `UPDATE ledger_transactions t
          SET posted_at = now() - interval '100 days'
                + (t.balance_version - 1) * interval '99 days' / b.version
         FROM balances b
        WHERE (b.account_id, b.mode, b.currency) = (t.account_id, t.mode, t.currency)
          AND t.account_id = ?`,
      [accountId],
    );
  });
}
