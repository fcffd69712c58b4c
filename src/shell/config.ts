/**
 * The configuration of the gateway's processes: the settings of src/platform/settings/settings.ts, grouped for their
 * use. The environment is read once, and one message lists every invalid variable and what to set.
 */
import { providerQueue } from '../../workflows/names';
import { MODES, type Mode } from '../domain/mode';
import { PROVIDER_CODES, type ProviderCode } from '../domain/provider-codes';
import { createEvidenceKey } from '../platform/lib/evidence-key';
import { productionFaults } from '../platform/settings/production';
import {
  attempt,
  readSetting,
  readSettings,
  type SettingName,
  type SettingsOf,
  settingsOf,
} from '../platform/settings/read-settings';
import { type Environment, ROWS, type Setting } from '../platform/settings/settings';
import { webhookSettings } from '../platform/settings/webhook-settings';
import type { MailConfig } from '../adapters/mail/sender';
import type { OidcConfig } from '../adapters/oidc/provider';
import type { ProviderModeConfig } from '../adapters/providers/port';
import { type ProviderConfig, PROVIDERS } from '../adapters/providers/registry';
import type { ScreeningConfig } from '../adapters/screening/service';
import { readTemporal } from '../temporal/connection';
import type { ProviderQueue, WorkerDeployment } from '../temporal/worker';

/** The configuration of every process of the gateway. */
export type Config = ReturnType<typeof sharedConfig> & {
  /** The pages and their login; null if they are not served. */
  pages: ReturnType<typeof pagesOf>;
};
export type ApiConfig = ReturnType<typeof readApiConfig>;
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws SetupError that lists everything missing or invalid */
export function readApiConfig(env: Environment) {
  const settings = readChecked('api', env);
  return {
    ...sharedConfig(settings, env),
    pages: pagesOf(settings),
    port: settings.PORT,
    /** The address to listen on; null means all. */
    host: settings.HOST,
    /** The time that a stopping process still takes requests. */
    drainMs: settings.API_DRAIN_MS,
    trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
    /** The sender of the mails of the workers; null if links do not go by mail. */
    mailFrom: settings.MAIL_FROM,
    /** Where operators see workflows; null if the pages have no links to it. */
    temporalUiUrl: settings.TEMPORAL_UI_URL,
    /** Whether requests are parts of traces, whose header goes to Temporal, providers and webhooks. */
    followsTraces: settings.TRACE_CONTEXT === 'on',
    peppers: {
      current: settings.KEY_PEPPER,
      next: settings.KEY_PEPPER_NEXT,
      earlier: settings.KEY_PEPPERS_EARLIER ?? [],
    },
    /** They stay published beside that of the signing key. */
    earlierPublicKeys: settings.EVIDENCE_PUBLIC_KEYS_EARLIER ?? [],
    cursorSecret: settings.CURSOR_SECRET,
    /** Secrets that are accepted in cursors and not used for new ones. */
    earlierCursorSecrets: settings.CURSOR_SECRETS_EARLIER ?? [],
  };
}

/** @throws as above */
export function readWorkerConfig(env: Environment) {
  const settings = readChecked('worker', variablesOfQueues(env));
  return {
    ...sharedConfig(settings, env),
    pages: null,
    /** Where operators open the console; null if unknown. */
    consoleUrl: settings.CONSOLE_URL,
    /** Above it, the signal `approve` has no effect; null means any amount. */
    signalApprovalMax: settings.SIGNAL_APPROVAL_MAX,
    /** The only host of the dashboard; null means that of the public URL. */
    dashboardHost: settings.DASHBOARD_HOST,
    mail: mailOf(settings),
    lateAfter: {
      reviewMinutes: settings.NOTIFY_REVIEW_AFTER_MINUTES,
      doubtMinutes: settings.NOTIFY_DOUBT_AFTER_MINUTES,
    },
    worker: {
      /** The task queues that this process takes. */
      queues: settings.WORKER_QUEUES,
      providerQueues: providerQueues(settings),
      deployment: deploymentOf(settings),
      maxCachedWorkflows: settings.MAX_CACHED_WORKFLOWS,
      shutdownGraceMs: settings.WORKER_GRACE_MS,
      workflowBundle: settings.WORKFLOW_BUNDLE,
    },
  };
}

/** Without the settings of queues that this worker does not take: the keys of providers, the mail server. */
function variablesOfQueues(env: Environment): Environment {
  const { value: taken } = attempt(() => readSetting('WORKER_QUEUES', env));
  const isRead = ({ queues }: Setting) =>
    queues === undefined || taken === undefined || taken.some((queue) => queues.includes(queue));
  const foreign = ROWS.filter(([, row]) => !isRead(row)).map(([name]) => name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.includes(name)));
}

function readChecked<Program extends 'api' | 'worker'>(program: Program, env: Environment) {
  const { fault } = attempt(() => readTemporal(env));
  return readSettings(settingsOf(program), env, [
    ...(fault === undefined ? [] : [fault]),
    ...productionFaults(program, env),
  ]);
}

type Shared = Pick<SettingsOf<'api'>, keyof SettingsOf<'api'> & keyof SettingsOf<'worker'>>;

function sharedConfig(settings: Shared, env: Environment) {
  return {
    isDevelopment: settings.GATEWAY_ENV === 'development',
    databaseUrl: settings.DATABASE_URL,
    /** Maximum number of PostgreSQL connections of this process. */
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    /** PostgreSQL ends a statement after this time; without an answer, its connection is given up later. */
    databaseStatementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
    temporal: readTemporal(env),
    /** The private port for metrics and readiness; null if not served. */
    metrics: { port: settings.METRICS_PORT, host: settings.METRICS_HOST },
    publicUrl: settings.PUBLIC_URL,
    providers: providersOf(settings),
    webhooks: webhookSettings(settings),
    /** Null if heads of the audit log and dossiers have no signature. */
    evidenceKey:
      settings.EVIDENCE_SIGNING_KEY === null
        ? null
        : createEvidenceKey(settings.EVIDENCE_SIGNING_KEY),
    isProduction: settings.GATEWAY_ENV === 'production',
    screening: screeningOf(settings),
    logLevel: settings.LOG_LEVEL,
  };
}

function pagesOf(settings: SettingsOf<'api'>) {
  if (settings.DASHBOARD_DATABASE_URL === null) return null;
  return {
    databaseUrl: settings.DASHBOARD_DATABASE_URL,
    databasePoolSize: settings.DASHBOARD_DATABASE_POOL_SIZE,
    dashboardHost: settings.DASHBOARD_HOST,
    consoleHost: settings.CONSOLE_HOST,
    oidc: oidcOf(settings),
  };
}

/** The OpenID Connect provider of the operators; null if they sign in with passwords and passkeys. */
function oidcOf(settings: SettingsOf<'api'>): OidcConfig | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLE_GROUPS: roleOfGroup,
  } = settings;
  if (issuer === null || clientId === null || clientSecret === null || roleOfGroup === null) {
    return null;
  }
  return {
    issuer,
    clientId,
    clientSecret,
    roleOfGroup,
    groupsClaim: settings.OIDC_GROUPS_CLAIM,
    emailClaim: settings.OIDC_EMAIL_CLAIM,
    scope: settings.OIDC_SCOPE,
    sessionMinutes: settings.OIDC_SESSION_MINUTES,
    breakGlass: settings.OIDC_BREAK_GLASS ?? [],
  };
}

function providersOf(settings: Shared): ProviderConfig {
  const byMode = (code: ProviderCode) =>
    Object.fromEntries(MODES.map((mode) => [mode, providerOf(settings, code, mode)]));
  return Object.fromEntries(PROVIDER_CODES.map((code) => [code, byMode(code)])) as ProviderConfig;
}

function providerOf(settings: Shared, code: ProviderCode, mode: Mode): ProviderModeConfig | null {
  const prefix = variablePrefix(code, mode);
  const baseUrl = settings[`${prefix}_URL`];
  const apiKey = settings[`${prefix}_API_KEY`];
  const callbackSecret = settings[`${prefix}_CALLBACK_SECRET`];
  if (baseUrl === null || apiKey === null || callbackSecret === null) return null;
  const timeoutMs = settings[`${prefix}_TIMEOUT_MS`];
  const programs = code === 'onchain_provider' ? settings[NETWORK_URLS[mode]] : null;
  return { baseUrl, apiKey, callbackSecret, timeoutMs, programs: programs ?? [] };
}

const NETWORK_URLS = {
  test: 'ONCHAIN_TEST_NETWORK_URLS',
  live: 'ONCHAIN_LIVE_NETWORK_URLS',
} as const satisfies Record<Mode, SettingName>;

/** The service that clears the destinations of live payouts; null if this process has none. */
function screeningOf(settings: Shared): ScreeningConfig | null {
  const {
    SCREENING_URL: url,
    SCREENING_API_KEY: apiKey,
    SCREENING_TIMEOUT_MS: timeoutMs,
  } = settings;
  return url === null || apiKey === null ? null : { url, apiKey, timeoutMs };
}

/** The mail server; null if nobody is notified by mail. */
function mailOf(settings: SettingsOf<'worker'>): MailConfig | null {
  const { SMTP_URL: smtpUrl, MAIL_FROM: from, GATEWAY_ENV } = settings;
  if (smtpUrl === null || from === null) return null;
  return { smtpUrl, from, requiresTls: GATEWAY_ENV === 'production' };
}

/** The queues of all providers, also of those that are not enabled, so that their payouts say why they wait. */
function providerQueues(settings: SettingsOf<'worker'>): ProviderQueue[] {
  return PROVIDER_CODES.flatMap((provider) =>
    MODES.map((mode) => ({
      taskQueue: providerQueue({ provider, mode }),
      callsPerSecond: settings[`${variablePrefix(provider, mode)}_CALLS_PER_SECOND`],
    })),
  );
}

function variablePrefix(code: ProviderCode, mode: Mode) {
  return `${PROVIDERS[code].variablePrefix}_${MODE_PART[mode]}` as const;
}

const MODE_PART = { test: 'TEST', live: 'LIVE' } as const;

/** The version of the workers in Temporal's worker deployments; null if workers have no versions. */
function deploymentOf(settings: SettingsOf<'worker'>): WorkerDeployment | null {
  const { WORKER_DEPLOYMENT_NAME: deploymentName, WORKER_BUILD_ID: buildId } = settings;
  return deploymentName === null || buildId === null ? null : { deploymentName, buildId };
}
