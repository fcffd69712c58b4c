/**
 * What the first `npm start` puts into an empty database: one verified merchant that can be used
 * at once. Called by prepare-database.ts, which keeps the credentials in .gateway/dev.json.
 */
import { randomBytes } from 'node:crypto';
import { connect } from '../db/connect';
import { type Db, inTransaction, rows, type Tx } from '../db/transaction';
import type { Mode } from '../domain/mode';
import { SCOPES } from '../domain/scopes';
import { hashApiKey, makeApiKey } from '../lib/api-key-secret';
import { newId } from '../lib/new-id';
import type { SeededCredentials } from './settings-file';

/** Programs find the demo merchant by this name: its id differs from one database to the next. */
const DEMO_MERCHANT = 'Demo merchant';
const DEMO_KEY_NAMES: Record<Mode, string> = { test: 'Demo test key', live: 'Demo live key' };
/** The most that a key may have (decision A2): a load test should meet its own limits, not this. */
const REQUESTS_PER_MINUTE = 1200;

const PASSWORD_LENGTH_BYTES = 15;
const WEBHOOK_SECRET_LENGTH_BYTES = 32;

/**
 * Makes the demo merchant and its credentials. On a database that has the merchant already its
 * earlier demo keys are revoked, because nobody can show their secrets again; keys with other
 * names stay.
 */
export async function seedDevelopment({
  ownerUrl,
  pepper,
}: {
  ownerUrl: string;
  pepper: string;
}): Promise<SeededCredentials> {
  const db = connect({ url: ownerUrl, size: 1, applicationName: 'gateway-seed' });
  try {
    const keys = await inTransaction(db, async (tx) => {
      const accountId = (await findDemoMerchant(tx)) ?? (await insertDemoMerchant(tx));
      return {
        test_key: await replaceDemoKey(tx, { accountId, mode: 'test', pepper }),
        live_key: await replaceDemoKey(tx, { accountId, mode: 'live', pepper }),
      };
    });
    // There are no tables for logins yet. The dashboard's part will store these two; until then
    // they open nothing. The endpoint with this secret is made by demo-endpoint.ts.
    return {
      merchant: { email: 'merchant@example.com', password: randomPassword() },
      operator: { email: 'operator@example.com', password: randomPassword() },
      ...keys,
      test_webhook_secret: `whsec_${randomBytes(WEBHOOK_SECRET_LENGTH_BYTES).toString('base64')}`,
    };
  } finally {
    await db.destroy();
  }
}

/** The demo merchant's account id, or null where there is none, as in production. */
export async function findDemoMerchant(db: Db | Tx): Promise<string | null> {
  const [account] = await rows<{ id: string }>(
    db,
    'SELECT id FROM accounts WHERE name = ? ORDER BY created_at, id LIMIT 1',
    [DEMO_MERCHANT],
  );
  return account?.id ?? null;
}

async function insertDemoMerchant(tx: Tx): Promise<string> {
  const id = newId('account');
  await rows(tx, 'INSERT INTO accounts (id, name, verified_at) VALUES (?, ?, now())', [
    id,
    DEMO_MERCHANT,
  ]);
  return id;
}

/** Gives the new key's secret, which is stored nowhere in the database. */
async function replaceDemoKey(
  tx: Tx,
  { accountId, mode, pepper }: { accountId: string; mode: Mode; pepper: string },
): Promise<string> {
  const name = DEMO_KEY_NAMES[mode];
  const key = makeApiKey(mode);
  await rows(
    tx,
    `UPDATE api_keys SET revoked_at = now()
      WHERE account_id = ? AND mode = ? AND name = ? AND revoked_at IS NULL`,
    [accountId, mode, name],
  );
  await rows(
    tx,
    `INSERT INTO api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four,
                           scopes, requests_per_minute)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?::text[], ?)`,
    [
      newId('apiKey'),
      accountId,
      mode,
      name,
      hashApiKey(key.secret, pepper),
      key.displayPrefix,
      key.lastFour,
      [...SCOPES],
      REQUESTS_PER_MINUTE,
    ],
  );
  return key.secret;
}

function randomPassword(): string {
  return randomBytes(PASSWORD_LENGTH_BYTES).toString('base64url');
}
