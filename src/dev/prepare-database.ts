/**
 * Brings the development database to the state that the gateway needs: newest schema, a login for
 * the application, and the demo merchant with its keys and its webhook endpoint.
 */
import { randomBytes } from 'node:crypto';
import { connect } from '../db/connect';
import { migrate } from '../db/migrate';
import { databaseUrl, ensureLogin, withClient } from '../db/provision';
import { DEMO_MERCHANT_NAME, findDemoMerchant } from '../db/accounts/accounts';
import type { Tx } from '../db/transaction';
import type { Mode, Owner } from '../domain/mode';
import { SCOPES } from '../domain/scopes';
import { hashApiKey, makeApiKey } from '../platform/lib/api-key-secret';
import type { DataLayout } from '../platform/lib/data-folder';
import { newId } from '../platform/lib/new-id';
import { createSecretBox } from '../platform/lib/secret-box';
import { createUser, listUsers } from '../features/people/users';
import type { LogLine } from './progress';
import { readCredentials, type SeededCredentials } from './settings-file';

/** The logins of the two programs and of the pages, each with its own rights, as in production. */
const API_LOGIN = 'gateway_api_1';
const WORKER_LOGIN = 'gateway_worker_1';
const DASHBOARD_LOGIN = 'gateway_dashboard_1';

/** Later starts find the keys and the endpoint by these names. */
const DEMO_ENDPOINT = 'Sandbox inbox';
const DEMO_KEY_NAMES: Record<Mode, string> = { test: 'Demo test key', live: 'Demo live key' };
/** The maximum for a key (decisions/keys#api-keys), so that a load test does not meet this limit. */
const REQUESTS_PER_MINUTE = 1200;

/** The author of these changes in the audit log. */
const SEED = { actor: 'npm start', reason: null };

const PASSWORD_LENGTH_BYTES = 15;
const WEBHOOK_SECRET_LENGTH_BYTES = 32;

export interface PreparedDatabase {
  ownerUrl: string;
  apiUrl: string;
  workerUrl: string;
  dashboardUrl: string;
  credentials: SeededCredentials;
}

interface PrepareOptions {
  ownerUrl: string;
  /** The value of DATABASE_URL, when the environment sets it. */
  givenAppUrl: string | null;
  secrets: Record<string, string>;
  /** The URL where the sandbox shows the demo merchant's webhooks of test mode. */
  inboxUrl: string;
  /**
   * The data folder, whose dev.json holds the credentials of an earlier start, which stay valid.
   */
  layout: DataLayout;
  log: LogLine;
}

export async function prepareDatabase({
  ownerUrl,
  givenAppUrl,
  secrets,
  inboxUrl,
  layout,
  log,
}: PrepareOptions): Promise<PreparedDatabase> {
  const isNew = await isEmpty(ownerUrl);
  await migrate(ownerUrl);
  const password = secrets['DATABASE_PASSWORD'] ?? '';
  const api = { user: API_LOGIN, password };
  const worker = { user: WORKER_LOGIN, password };
  const dashboard = { user: DASHBOARD_LOGIN, password };
  if (givenAppUrl === null) {
    await ensureLogin(ownerUrl, api, ['gateway_api']);
    await ensureLogin(ownerUrl, worker, ['gateway_worker']);
    await ensureLogin(ownerUrl, dashboard, ['gateway_dashboard']);
  }
  const kept = isNew ? null : readCredentials(layout.settings);
  if (kept === null) log('first start: creating the demo merchant, its keys and the logins');
  const credentials =
    kept ?? (await seedDevelopment({ ownerUrl, pepper: secrets['KEY_PEPPER'] ?? '' }));
  await keepUsers(ownerUrl, credentials);
  await keepDemoEndpoint(ownerUrl, {
    url: inboxUrl,
    secret: credentials.test_webhook_secret,
    secretKey: secrets['WEBHOOK_SECRET_KEY'] ?? '',
  });
  return {
    ownerUrl,
    apiUrl: givenAppUrl ?? databaseUrl(ownerUrl, api),
    workerUrl: givenAppUrl ?? databaseUrl(ownerUrl, worker),
    dashboardUrl: givenAppUrl ?? databaseUrl(ownerUrl, dashboard),
    credentials,
  };
}

async function isEmpty(ownerUrl: string): Promise<boolean> {
  return withClient(ownerUrl, async (client) => {
    const found = await client.query("select to_regclass('public.accounts') as name");
    const [row] = found.rows as { name: string | null }[];
    return row?.name === null;
  });
}

/**
 * Makes the demo merchant and its credentials. If the merchant exists, its earlier demo keys are
 * revoked, because their secrets cannot be shown again; keys with other names stay.
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
    const keys = await db.transaction(async (tx) => {
      const accountId = (await findDemoMerchant(tx)) ?? (await insertDemoMerchant(tx));
      return {
        test_key: await replaceDemoKey(tx, { accountId, mode: 'test', pepper }),
        live_key: await replaceDemoKey(tx, { accountId, mode: 'live', pepper }),
      };
    });
    // keepUsers stores the two logins, and keepDemoEndpoint the endpoint with the webhook secret.
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

async function insertDemoMerchant(tx: Tx): Promise<string> {
  const id = newId('account');
  await tx.query('INSERT INTO accounts (id, name, verified_at) VALUES (?, ?, now())', [
    id,
    DEMO_MERCHANT_NAME,
  ]);
  return id;
}

/** @returns the new key's secret; the database stores only its hash */
async function replaceDemoKey(
  tx: Tx,
  { accountId, mode, pepper }: Owner & { pepper: string },
): Promise<string> {
  const name = DEMO_KEY_NAMES[mode];
  const key = makeApiKey(mode);
  await tx.query(
    `UPDATE api_keys SET revoked_at = now()
      WHERE account_id = ? AND mode = ? AND name = ? AND revoked_at IS NULL`,
    [accountId, mode, name],
  );
  await tx.query(
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

/** The two logins of dev.json: the owner of the demo merchant, and an administrator. */
export async function keepUsers(
  ownerUrl: string,
  { merchant, operator }: Pick<SeededCredentials, 'merchant' | 'operator'>,
): Promise<void> {
  const db = connect({ url: ownerUrl, size: 1, applicationName: 'gateway-seed' });
  try {
    const known = (await listUsers(db)).map(({ kind, email }) => `${kind} ${email}`);
    const accountId = await findDemoMerchant(db);
    const users = [
      { ...merchant, kind: 'merchant', role: 'owner', accountId },
      { ...operator, kind: 'operator', role: 'admin', accountId: null },
    ] as const;
    for (const user of users) {
      if (!known.includes(`${user.kind} ${user.email}`)) await createUser(db, SEED, user);
    }
  } finally {
    await db.destroy();
  }
}

function randomPassword(): string {
  return randomBytes(PASSWORD_LENGTH_BYTES).toString('base64url');
}

/**
 * The demo merchant's test endpoint, which points at the sandbox's inbox page. Later starts update
 * it to the sandbox's port and the secret in dev.json, unless its URL was changed by hand.
 */
export async function keepDemoEndpoint(
  ownerUrl: string,
  { url, secret, secretKey }: { url: string; secret: string; secretKey: string },
): Promise<void> {
  const db = connect({ url: ownerUrl, size: 1, applicationName: 'gateway-seed' });
  try {
    await db.transaction(async (tx) => {
      const accountId = await findDemoMerchant(tx);
      if (accountId === null) return;
      const [known] = await tx.query<{ id: string }>(
        'SELECT id FROM webhook_endpoints WHERE account_id = ? AND description = ?',
        [accountId, DEMO_ENDPOINT],
      );
      const id = known?.id ?? newId('webhookEndpoint');
      const { sealed, keyId } = createSecretBox(secretKey, []).seal(secret, id);
      await tx.query(
        `INSERT INTO webhook_endpoints AS e
                (id, account_id, mode, url, description, secret_sealed, secret_key_id)
         VALUES (?, ?, 'test', ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE
            SET url = excluded.url, secret_sealed = excluded.secret_sealed,
                secret_key_id = excluded.secret_key_id
          WHERE e.url LIKE 'http://localhost:%/inbox'`,
        [id, accountId, url, DEMO_ENDPOINT, sealed, keyId],
      );
    });
  } finally {
    await db.destroy();
  }
}
