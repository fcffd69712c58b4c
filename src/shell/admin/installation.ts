/**
 * Which gateway a command works on: its database, pepper, Temporal and webhook settings and, in
 * development, its demo merchant.
 */
import { connect } from '../../db/connect';
import { pendingMigrations } from '../../db/migrate';
import { withClient } from '../../db/provision';
import { findDemoMerchant } from '../../db/accounts/accounts';
import type { Db } from '../../db/transaction';
import { UsageError } from '../../platform/lib/command-line';
import {
  dataLayout,
  developmentDatabaseUrl,
  readPrivateJson,
} from '../../platform/lib/data-folder';
import { createEvidenceKey } from '../../platform/lib/evidence-key';
import { findSetting, readSetting, readSettings } from '../../platform/settings/read-settings';
import { createSecretBox } from '../../platform/lib/secret-box';
import { SetupError } from '../../platform/lib/setup-error';
import { WEBHOOK_SETTINGS, webhookSettings } from '../../platform/settings/webhook-settings';
import { createScreeningService, type ScreeningService } from '../../adapters/screening/service';
import { requireAccount } from '../../features/accounts/accounts';
import type { WebhookTools } from '../../features/webhooks/webhook-endpoints';
import { createCommandClient, type TemporalClient } from '../../temporal/client';
import { createWebhookDeliveryWorkflows } from '../../temporal/webhook-delivery-workflows';
import { createWebhookSender } from '../../adapters/webhooks/sender';

/** @throws SetupError when there is no database, or it lacks a migration */
export async function openDatabase(env: NodeJS.ProcessEnv): Promise<Db> {
  const url = databaseAddress(env);
  // A plain client connects first, because its error explains a failed connection.
  await withClient(url, (client) => client.query('SELECT 1'));
  const db = connect({ url, size: 1, applicationName: 'gateway-admin' });
  try {
    await refuseOldSchema(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function refuseOldSchema(db: Db): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return;
  throw new SetupError(
    `The database lacks the migrations ${pending.join(', ')}. Run \`npm run migrate\`, or \`npm start\` in development.`,
  );
}

/** @throws SetupError */
export function readPepper(env: NodeJS.ProcessEnv): string {
  const given = findSetting('KEY_PEPPER', env);
  if (given !== null) return given;
  const kept = isDevelopmentDatabase(env)
    ? readPrivateJson(dataLayout(env).secrets)['KEY_PEPPER']
    : undefined;
  if (typeof kept === 'string' && kept !== '') return kept;
  throw new SetupError(
    'KEY_PEPPER is not set. Keys are stored as an HMAC with it: set the same value as for the gateway.',
  );
}

/** The public keys of the current signing key and of earlier ones. @throws SetupError */
export function readEvidenceKeys(env: NodeJS.ProcessEnv): string[] {
  const kept = developmentSecrets(env)?.['EVIDENCE_SIGNING_KEY'];
  const own = typeof kept === 'string' ? { EVIDENCE_SIGNING_KEY: kept, ...env } : env;
  const settings = readSettings(['EVIDENCE_SIGNING_KEY', 'EVIDENCE_PUBLIC_KEYS_EARLIER'], own);
  const current = settings.EVIDENCE_SIGNING_KEY;
  return [
    ...(current === null ? [] : [createEvidenceKey(current).publicKey]),
    ...(settings.EVIDENCE_PUBLIC_KEYS_EARLIER ?? []),
  ];
}

/** @throws SetupError */
export function connectTemporal(env: NodeJS.ProcessEnv): TemporalClient {
  const local = isDevelopmentDatabase(env)
    ? readPrivateJson(dataLayout(env).settings)['temporal_address']
    : undefined;
  return createCommandClient(env, typeof local === 'string' ? local : undefined);
}

/** @throws UsageError, AdminRefusal */
export async function findAccountId(
  db: Db,
  env: NodeJS.ProcessEnv,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined) return (await requireAccount(db, asked)).id;
  const demo = isProduction(env) ? null : await findDemoMerchant(db);
  if (demo !== null) return demo;
  throw new UsageError('--account is missing. `accounts list` shows the ids (acc_…).');
}

function databaseAddress(env: NodeJS.ProcessEnv): string {
  if (isProduction(env)) return readSetting('DATABASE_OWNER_URL', env);
  return (
    findSetting('DATABASE_OWNER_URL', env) ?? developmentDatabaseUrl(env, 'set DATABASE_OWNER_URL')
  );
}

/** The secrets that `npm start` stores in a file; null for any other database. */
function developmentSecrets(env: NodeJS.ProcessEnv): Record<string, unknown> | null {
  return isDevelopmentDatabase(env) ? readPrivateJson(dataLayout(env).secrets) : null;
}

/** The local pepper belongs to this database; keys created with it would not work elsewhere. */
function isDevelopmentDatabase(env: NodeJS.ProcessEnv): boolean {
  const local = readPrivateJson(dataLayout(env).settings)['postgres_url'];
  return !isProduction(env) && databaseAddress(env) === local;
}

function isProduction(env: NodeJS.ProcessEnv): boolean {
  return env['GATEWAY_ENV'] === 'production';
}

/** The service that the gateway asks; null if it has none. @throws SetupError */
export function openScreening(env: NodeJS.ProcessEnv): ScreeningService | null {
  const settings = readSettings(['SCREENING_URL', 'SCREENING_API_KEY', 'SCREENING_TIMEOUT_MS'], {
    ...localScreening(env),
    ...env,
  });
  const {
    SCREENING_URL: url,
    SCREENING_API_KEY: apiKey,
    SCREENING_TIMEOUT_MS: timeoutMs,
  } = settings;
  return url === null || apiKey === null
    ? null
    : createScreeningService({ url, apiKey, timeoutMs });
}

/** The sandbox of `npm start`. */
function localScreening(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const key = developmentSecrets(env)?.['SCREENING_API_KEY'];
  const sandbox = readPrivateJson(dataLayout(env).settings)['sandbox_url'];
  if (typeof key !== 'string' || typeof sandbox !== 'string') return {};
  return { SCREENING_URL: `${sandbox}/sandbox/screening`, SCREENING_API_KEY: key };
}

export interface OpenedWebhookTools extends WebhookTools {
  close(): Promise<void>;
}

/** @throws SetupError when WEBHOOK_SECRET_KEY is not set, or a setting is invalid */
export function openWebhookTools(env: NodeJS.ProcessEnv): OpenedWebhookTools {
  const kept = developmentSecrets(env);
  const keptKey = kept?.['WEBHOOK_SECRET_KEY'];
  const own = {
    ...(typeof keptKey === 'string' ? { WEBHOOK_SECRET_KEY: keptKey } : {}),
    ...env,
    ...(kept === null ? {} : { GATEWAY_ENV: 'development' }),
  };
  if (findSetting('WEBHOOK_SECRET_KEY', own) === null) {
    throw new SetupError(
      'WEBHOOK_SECRET_KEY is not set. The secrets of endpoints are encrypted with it: set the same ' +
        'value as for the gateway.',
    );
  }
  const settings = webhookSettings(readSettings(WEBHOOK_SETTINGS, own));
  const webhookSender = createWebhookSender({ ...settings, ownHosts: ownHosts(env) });
  const temporal = findTemporal(env);
  return {
    webhookSender,
    secretBox: createSecretBox(settings.secretKey, settings.earlierSecretKeys),
    webhookDeliveryWorkflows: temporal === null ? null : createWebhookDeliveryWorkflows(temporal),
    close: async () => {
      await Promise.allSettled([webhookSender.close(), temporal?.close()]);
    },
  };
}

function ownHosts(env: NodeJS.ProcessEnv): string[] {
  const url = findSetting('PUBLIC_URL', env);
  return url === null ? [] : [new URL(url).hostname];
}

/** Nothing is lost without Temporal: the gateway finds due deliveries in the rows. */
function findTemporal(env: NodeJS.ProcessEnv): TemporalClient | null {
  try {
    return connectTemporal(env);
  } catch (error) {
    if (error instanceof SetupError) return null;
    throw error;
  }
}
