/** Everything that a process works with, built once from its configuration. */
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ActivityDeps } from '../../activities';
import { LocalCalls } from '../../activities/local-calls';
import { createWebhookDeliveryStarter } from '../../activities/webhook-delivery/starter';
import type { ApiConfig, Config, WorkerConfig } from './config';
import { connect } from '../db/connect';
import { SharedConnections } from '../db/shared-connections';
import type { Db } from '../db/transaction';
import type { Mode } from '../domain/mode';
import { EndpointSlots } from '../domain/webhook-delivery-slots';
import { createLogger } from '../platform/lib/logger';
import { createRegistry } from '../platform/lib/metrics';
import { createSecretBox, type SecretBox } from '../platform/lib/secret-box';
import { createMailSender } from '../adapters/mail/sender';
import { createOidcProvider } from '../adapters/oidc/provider';
import { createProviders, type ProviderRegistry } from '../adapters/providers/registry';
import { createScreeningService, type ScreeningService } from '../adapters/screening/service';
import { createAdmission } from '../kit/service/admission';
import { createAuthentication } from '../features/api-keys/authentication';
import { createDashboardServices } from './dashboard/services';
import { createBalances } from '../features/books/balances';
import { createCatalogue } from '../features/accounts/catalogue';
import { createEvents } from '../features/webhooks/events';
import { createHealth } from './api/health';
import { createKeys } from '../features/api-keys/keys-by-api';
import { createNetworkFees } from '../kit/service/network-fees';
import { createPayments } from '../features/payments/payments';
import { createPayoutReviews } from '../features/payouts/payout-reviews';
import { createPayoutBeneficiaries } from '../features/payouts/payout-beneficiaries';
import { createPayoutScreenings } from '../features/payouts/payout-screenings';
import { checkRows, createPayoutBatches } from '../features/payout-batches/payout-batches';
import { createPayoutSchedules } from '../features/payout-schedules/payout-schedules';
import { createPayouts } from '../features/payouts/payouts';
import { measureBreakGlass, measureCalls, measurePools } from './process-metrics';
import { countProviderCalls } from './provider-calls';
import { createProviderCallbacks } from './api/provider-callbacks';
import { createRecipients } from '../features/recipients/recipients';
import { createRefundAddresses } from '../features/payments/refund-addresses';
import { createRefunds } from '../features/payments/refunds';
import { createRequestLog } from '../features/request-log/request-log';
import { createRequestLogs } from '../features/request-log/request-logs';
import { createWebhooks } from '../features/webhooks/webhooks';
import type { Services } from './api/services';
import { createSingleSignOn } from '../features/people/single-sign-on';
import { createUserServices } from './user-services';
import { createTemporalClient, type TemporalClient } from '../temporal/client';
import { TRACE_OF_STARTS } from '../temporal/trace';
import { createClosedWorkflows } from '../temporal/visibility';
import {
  createWebhookDeliveryWorkflows,
  type WebhookDeliveryWorkflows,
} from '../temporal/webhook-delivery-workflows';
import { createPaymentWorkflows, type PaymentWorkflows } from '../temporal/payment-workflows';
import {
  createPayoutBatchWorkflows,
  type PayoutBatchWorkflows,
} from '../temporal/payout-batch-workflows';
import {
  createScheduleRunWorkflows,
  type ScheduleRunWorkflows,
} from '../temporal/schedule-run-workflows';
import { createPayoutWorkflows, type PayoutWorkflows } from '../temporal/payout-workflows';
import { createWebhookSender, type WebhookSender } from '../adapters/webhooks/sender';
import { createConsole } from './console/console';
import { createBatchReviews } from '../features/payout-batches/batch-reviews';
import { createChats } from '../features/notifications/chats';
import { createConsoleServices } from './console/services';
import { createWorkflowUrl } from '../kit/pages/workflow-link';
import { createDashboard } from './dashboard/dashboard';
import { serveAssets } from '../kit/pages/assets';
import { serveLogos } from '../kit/pages/logos';
import { createOnce } from '../kit/pages/once';
import { serveSite } from '../kit/pages/site';

export interface Deps<C extends Config = Config> {
  config: C;
  logger: Logger;
  /** The metrics that the process gives to Prometheus. */
  registry: Registry;
  db: Db;
  /** The connections for the short reads of the API. */
  shortStatements: SharedConnections;
  /** The pool of the dashboard and the console, with their own login; null if they are not served. */
  pagesDb: Db | null;
  temporal: TemporalClient;
  providers: ProviderRegistry;
  payoutWorkflows: PayoutWorkflows;
  payoutBatchWorkflows: PayoutBatchWorkflows;
  scheduleRunWorkflows: ScheduleRunWorkflows;
  paymentWorkflows: PaymentWorkflows;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows;
  secretBox: SecretBox;
  webhookSender: WebhookSender;
  /** Null if this process has no screening service. */
  screeningService: ScreeningService | null;
  close(): Promise<void>;
}

/**
 * The number of connections of an API process in addition to its pool. As many as PostgreSQL has cores
 * is enough.
 */
const SHORT_STATEMENT_CONNECTIONS = 2;

/** @param name the process, as logs and pg_stat_activity show it */
export function buildDeps<C extends Config>(
  config: C,
  name: string,
  logger: Logger = createLogger(name, config.logLevel),
): Deps<C> {
  if (config.isProduction && config.evidenceKey === null) {
    logger.warn(
      'EVIDENCE_SIGNING_KEY is not set: heads of the audit log and dossiers of payouts have no signature',
    );
  }
  const limits = { statementTimeoutMs: config.databaseStatementTimeoutMs };
  const login = { url: config.databaseUrl, applicationName: `gateway-${name}`, ...limits };
  const db = connect({ ...login, size: config.databasePoolSize });
  const shortStatements = new SharedConnections(
    { ...login, size: SHORT_STATEMENT_CONNECTIONS },
    db,
  );
  const registry = createRegistry(name);
  const calls = measureCalls(registry);
  const temporal = createTemporalClient(config.temporal, calls.onTemporalError);
  const pagesDb =
    config.pages === null
      ? null
      : connect({
          url: config.pages.databaseUrl,
          size: config.pages.databasePoolSize,
          applicationName: 'gateway-dashboard',
          ...limits,
        });
  measurePools(registry, { main: db, pages: pagesDb });
  const providerCalls = countProviderCalls(db);
  const providers = createProviders(config.providers, (call) => {
    calls.onProviderCall(call);
    providerCalls.add(call);
  });
  const screeningService =
    config.screening === null ? null : createScreeningService(config.screening);
  const { webhooks } = config;
  const webhookSender = createWebhookSender({
    ...webhooks,
    ownHosts: ownHosts(config),
  });
  return {
    config,
    logger,
    registry,
    db,
    shortStatements,
    pagesDb,
    temporal,
    providers,
    payoutWorkflows: createPayoutWorkflows(temporal, { logger }),
    payoutBatchWorkflows: createPayoutBatchWorkflows(temporal, { logger }),
    scheduleRunWorkflows: createScheduleRunWorkflows(temporal),
    paymentWorkflows: createPaymentWorkflows(temporal, { logger }),
    webhookDeliveryWorkflows: createWebhookDeliveryWorkflows(temporal),
    secretBox: createSecretBox(webhooks.secretKey, webhooks.earlierSecretKeys),
    webhookSender,
    screeningService,
    close: async () => {
      const stored = Promise.all([providerCalls.stop(), shortStatements.destroy()]);
      await Promise.allSettled([
        stored.then(() => db.destroy()),
        pagesDb?.destroy(),
        temporal.close(),
        providers.close(),
        screeningService?.close(),
      ]);
      await webhookSender.close();
    },
  };
}

/** An answer within this time is prompt; that to a payment includes the provider's. */
const PROMPT_MS = { payout: 1_000, payment: 4_000 };
/** A payment waits for its provider, so any number is opened at once. */
const PAYOUTS_AT_ONCE = 8;

export function buildServices(deps: Deps<ApiConfig>): Services {
  const { db, providers, config } = deps;
  const networkFees = createNetworkFees(providers);
  return {
    authentication: createAuthentication({ ...config, db: deps.shortStatements }),
    payments: createPayments({
      ...deps,
      networkFees,
      admission: createAdmission({ promptMs: PROMPT_MS.payment, atOnce: null }),
    }),
    payouts: createPayouts({
      ...deps,
      evidenceKey: config.evidenceKey,
      networkFees,
      admission: createAdmission({ promptMs: PROMPT_MS.payout, atOnce: PAYOUTS_AT_ONCE }),
    }),
    payoutBatches: createPayoutBatches({ ...deps, networkFees }),
    payoutSchedules: createPayoutSchedules({ ...deps, networkFees }),
    recipients: createRecipients(deps),
    refunds: createRefunds({ ...deps, networkFees }),
    balances: createBalances(deps),
    events: createEvents({ db }),
    webhooks: createWebhooks(deps),
    keys: createKeys({ ...deps, pepper: config.peppers.current }),
    catalogue: createCatalogue({ db, providers }),
    providerCallbacks: createProviderCallbacks(deps),
    health: createHealth(deps),
    requestLog: createRequestLog(deps),
    requestLogs: createRequestLogs(deps),
  };
}

/** The dashboard and the console; none without DASHBOARD_DATABASE_URL. */
export function buildPages(deps: Deps<ApiConfig>, api: Services): Middleware[] {
  const { config, logger, pagesDb: db } = deps;
  if (config.pages === null || db === null) return [];
  const { dashboardHost, consoleHost } = config.pages;
  const urlOf = (host: string | null) => hostUrl(config.publicUrl, host);
  const { oidc } = config.pages;
  const rules = {
    issuer: oidc?.issuer ?? null,
    breakGlass: new Set(oidc?.breakGlass.map((email) => email.toLowerCase())),
    onBreakGlass: measureBreakGlass(deps.registry),
  };
  const users = createUserServices(db, deps.secretBox, rules, config.mailFrom !== null);
  const singleSignOn =
    oidc === null
      ? null
      : createSingleSignOn(db, deps.secretBox, {
          provider: createOidcProvider(oidc, logger),
          config: oidc,
        });
  const once = createOnce(deps.secretBox, 'gateway_secret');
  const drafts = createOnce(deps.secretBox, 'gateway_draft');
  const services = createDashboardServices({ ...deps, db, pepper: config.peppers.current, api });
  const chats = createChats({
    ...{ db, webhookSender: deps.webhookSender, secretBox: deps.secretBox },
    modeOfOperators: chatModeOfOperators(config),
    isProduction: config.isProduction,
  });
  const sites = [
    createDashboard({
      services,
      users,
      refundAddresses: createRefundAddresses({ ...deps, db }),
      chats,
      once,
      drafts,
      publicUrl: urlOf(dashboardHost),
      host: dashboardHost,
    }),
    createConsole({
      services: createConsoleServices({
        ...deps,
        db,
        // Only the login of the API reads what a dossier is made of.
        dossiers: { db: deps.db, evidenceKey: config.evidenceKey },
      }),
      reviews: createPayoutReviews({ ...deps, db }),
      screenings: createPayoutScreenings({ ...deps, db }),
      beneficiaries: createPayoutBeneficiaries({ ...deps, db }),
      batches: createBatchReviews({ ...deps, db }),
      users,
      singleSignOn,
      chats,
      once,
      drafts,
      publicUrl: urlOf(consoleHost),
      dashboardUrl: urlOf(dashboardHost),
      workflowUrl: createWorkflowUrl({ ...config.temporal, uiUrl: config.temporalUiUrl }),
      host: consoleHost,
    }),
  ];
  return [
    serveAssets,
    serveLogos(db),
    ...sites.map((site) => serveSite(site, { ...config, logger })),
  ];
}

/** In development their chats may be on this machine, as webhooks of test mode may be. */
function chatModeOfOperators({ isDevelopment }: Pick<Config, 'isDevelopment'>): Mode {
  return isDevelopment ? 'test' : 'live';
}

/** The URL of a site that has a host of its own; otherwise the public one. */
function hostUrl(publicUrl: string, host: string | null): string {
  return host === null ? publicUrl : `${new URL(publicUrl).protocol}//${host}`;
}

/**
 * @param connection the connection of this process's workers, which take the deliveries that they start
 */
export function buildActivityDeps(
  deps: Deps<WorkerConfig>,
  connection: NativeConnection,
): ActivityDeps {
  const { mail, publicUrl, consoleUrl, signalApprovalMax } = deps.config;
  const { namespace } = deps.config.temporal;
  const webhookDeliveryWorkflows = createWebhookDeliveryWorkflows(
    new Client({ connection, namespace, interceptors: { workflow: [TRACE_OF_STARTS] } }),
    { isEager: true },
  );
  const networkFees = createNetworkFees(deps.providers);
  const dashboardUrl = hostUrl(publicUrl, deps.config.dashboardHost);
  return {
    ...deps,
    checkRows: (requester, rows) => checkRows({ ...deps, networkFees }, requester, rows),
    decimalsOf: (payment) => networkFees.decimals(payment),
    consoleUrl,
    dashboardUrl,
    signalApprovalMax: signalApprovalMax ?? undefined,
    evidenceKey: deps.config.evidenceKey,
    mail: mail === null ? null : createMailSender(mail),
    pages: {
      dashboard: `${dashboardUrl}/dashboard`,
      console: consoleUrl ?? `${publicUrl}/console`,
    },
    lateAfter: deps.config.lateAfter,
    chatModeOfOperators: chatModeOfOperators(deps.config),
    closedWorkflows: createClosedWorkflows(deps.temporal),
    webhookDeliveryStarter: createWebhookDeliveryStarter({ ...deps, webhookDeliveryWorkflows }),
    endpointSlots: new EndpointSlots(),
    localCalls: new LocalCalls(localQueues(deps.config.worker)),
  };
}

/** A rate holds in the Temporal server only, and other workers may be the only ones to call providers. */
function localQueues({ queues, providerQueues }: WorkerConfig['worker']): string[] {
  if (!queues.includes('providers')) return [];
  return providerQueues
    .filter(({ callsPerSecond }) => callsPerSecond === null)
    .map(({ taskQueue }) => taskQueue);
}

/**
 * The names that no webhook may go to. In development the gateway shares its name with receivers.
 */
function ownHosts({ publicUrl, webhooks }: Config): string[] {
  const { hostname } = new URL(publicUrl);
  return webhooks.testMode.allowedHosts.includes(hostname) ? [] : [hostname];
}
