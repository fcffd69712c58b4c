/** Merchants for tests: an account with keys and funds, made with the owner's rights. */
import type { Mode } from '../../../src/domain/mode';
import { SCOPES, type Scope } from '../../../src/domain/scopes';
import type { Db } from '../../../src/db/transaction';
import { hashApiKey, makeApiKey } from '../../../src/platform/lib/api-key-secret';
import { newId } from '../../../src/platform/lib/new-id';
import { fund as fundBalance } from './ledger';

/** More than a test spends. */
export const FUNDS = '100000.00000000';

export interface Merchant {
  accountId: string;
  testKey: string;
  liveKey: string;
}

export async function createMerchant(
  db: Db,
  pepper: string,
  settings: { reviewAll?: boolean; rehearseReview?: boolean } = {},
): Promise<Merchant> {
  const accountId = newId('account');
  await db.query(
    `INSERT INTO accounts (id, name, verified_at, review_all, rehearse_review)
     VALUES (?, ?, now(), ?, ?)`,
    [
      accountId,
      `Merchant ${accountId}`,
      settings.reviewAll ?? true,
      settings.rehearseReview ?? false,
    ],
  );
  return {
    accountId,
    testKey: await createKey(db, pepper, { accountId, mode: 'test' }),
    liveKey: await createKey(db, pepper, { accountId, mode: 'live' }),
  };
}

/** Two days old, so that its age alone asks for no review. */
export async function createKey(
  db: Db,
  pepper: string,
  key: { accountId: string; mode: Mode; scopes?: readonly Scope[]; requestsPerMinute?: number },
): Promise<string> {
  const { secret, displayPrefix, lastFour } = makeApiKey(key.mode);
  await db.query(
    `INSERT INTO api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four,
                           scopes, requests_per_minute, created_at)
     VALUES (?, ?, ?, 'test', ?, ?, ?, ?::text[], ?, now() - interval '2 days')`,
    [
      newId('apiKey'),
      key.accountId,
      key.mode,
      hashApiKey(secret, pepper),
      displayPrefix,
      lastFour,
      [...(key.scopes ?? SCOPES)],
      key.requestsPerMinute ?? 1200,
    ],
  );
  return secret;
}

export async function fund(
  db: Db,
  accountId: string,
  mode: Mode,
  currency: string,
  value: string,
): Promise<void> {
  await fundBalance(db, { accountId, mode, currency }, value);
}
