/**
 * Brings the development database to where the gateway can run on it: newest schema, a login for
 * the application, the demo merchant of the first start.
 */
import { migrate } from '../db/migrate';
import { databaseUrl, ensureAppLogin, withClient } from '../db/provision';
import type { LogLine } from '../lib/log-line';
import type { DataLayout } from './layout';
import { keepDemoEndpoint } from './demo-endpoint';
import { seedDevelopment } from './seed';
import { readCredentials, type SeededCredentials } from './settings-file';

const APP_LOGIN = 'gateway_api';

export interface PreparedDatabase {
  ownerUrl: string;
  /** Connects the application's login, which has no more rights than in production. */
  appUrl: string;
  credentials: SeededCredentials;
}

export interface PrepareOptions {
  ownerUrl: string;
  /** DATABASE_URL, when the environment names the application's login itself. */
  givenAppUrl: string | null;
  secrets: Record<string, string>;
  /** Where the sandbox shows the demo merchant's webhooks of test mode. */
  inboxUrl: string;
  /** Its dev.json holds the credentials of an earlier start, which stay valid. */
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
  const login = { user: APP_LOGIN, password: secrets['DATABASE_PASSWORD'] ?? '' };
  if (givenAppUrl === null) await ensureAppLogin(ownerUrl, login);
  const kept = isNew ? null : readCredentials(layout.settings);
  if (kept === null) log('first start: making the demo merchant, its keys and the logins');
  const credentials =
    kept ?? (await seedDevelopment({ ownerUrl, pepper: secrets['KEY_PEPPER'] ?? '' }));
  await keepDemoEndpoint(ownerUrl, {
    url: inboxUrl,
    secret: credentials.test_webhook_secret,
    secretKey: secrets['WEBHOOK_SECRET_KEY'] ?? '',
  });
  return { ownerUrl, appUrl: givenAppUrl ?? databaseUrl(ownerUrl, login), credentials };
}

async function isEmpty(ownerUrl: string): Promise<boolean> {
  return withClient(ownerUrl, async (client) => {
    const found = await client.query("select to_regclass('public.knex_migrations') as name");
    const [row] = found.rows as { name: string | null }[];
    return row?.name === null;
  });
}
