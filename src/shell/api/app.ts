/**
 * The gateway's HTTP interface as one Koa application. src/shell/deps.ts builds it, server.ts
 * listens with it. The order of the checks on a request is decisions/api#order-of-checks.
 */
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { EvidenceKey } from '../../platform/lib/evidence-key';
import { createAccountTurns } from '../../kit/service/account-turns';
import type { Services } from './services';
import type { GatewayContext, GatewayMiddleware, GatewayState } from '../../kit/api/context';
import { createAuth, recognizeCaller } from '../../kit/api/auth';
import {
  refuseForeignHosts,
  refuseInvalidHttp,
  refuseUnknownPath,
  writeErrors,
} from '../../kit/api/write-errors';
import {
  keepRequests,
  logRequests,
  requireHttps,
  setRequestId,
} from '../../features/request-log/record-requests';
import { createLargeBodies } from '../../kit/api/large-bodies/large-body';
import { followTrace } from '../../kit/api/trace';
import { createPagination } from '../../kit/api/pagination';
import { apiKeyRoutes } from '../../features/api-keys/api-keys-api';
import { balanceRoutes } from '../../features/books/balance-api';
import { catalogueRoutes } from '../../features/accounts/catalogue-api';
import { docsRoutes } from './docs';
import { eventRoutes } from '../../features/webhooks/events-api';
import { exportRoutes } from '../../features/books/exports-api';
import { healthRoutes } from './health-api';
import { paymentRoutes } from '../../features/payments/payments-api';
import { payoutBatchRoutes } from '../../features/payout-batches/payout-batches-api';
import { payoutScheduleRoutes } from '../../features/payout-schedules/payout-schedules-api';
import { reconciliationRoutes } from '../../features/books/reconciliations-api';
import { refundRoutes } from '../../features/payments/refunds-api';
import { requestLogRoutes } from '../../features/request-log/request-logs-api';
import { payoutRoutes } from '../../features/payouts/payouts-api';
import { recipientRoutes } from '../../features/recipients/recipients-api';
import { signingKeyRoutes } from '../../features/audit/signing-keys-api';
import { providerCallbackRoutes } from './provider-callbacks-api';
import { webhookRoutes } from '../../features/webhooks/webhooks-api';

export interface AppOptions {
  services: Services;
  /** The public URL of the API, without the version: `https://pay.example.com`. */
  publicUrl: string;
  /** Signs list cursors; all API processes share it. */
  cursorSecret: string;
  /** Earlier secrets, whose cursors are still accepted. */
  earlierCursorSecrets?: readonly string[];
  /** The number of proxies in front that append to X-Forwarded-For (decisions/api#client-address). */
  trustedProxyHops: number;
  /** Signs dossiers; null if they have no signature. */
  evidenceKey: EvidenceKey | null;
  /** The public keys of earlier signing keys. */
  earlierPublicKeys: readonly string[];
  /** Answers only requests to this machine or to the public URL (decisions/tools#development). */
  isDevelopment?: boolean;
  /** Whether each request belongs to a trace. */
  followsTraces?: boolean;
  /** Measures the requests; the private port shows them (metrics.ts). */
  measure?: GatewayMiddleware;
  /** The middlewares of the dashboard and the console. */
  pages?: readonly Middleware[];
  logger: Logger;
}

/** The most files of an account that are read and sent at once. */
const EXPORTS_AT_ONCE = { live: 2, test: 1 };

export function createApp(options: AppOptions): Koa<GatewayState> {
  const { services, logger } = options;
  const pagination = createPagination(
    options.publicUrl,
    options.cursorSecret,
    options.earlierCursorSecrets,
  );
  const turns = createAccountTurns();
  const validateLarge = createLargeBodies();
  const auth = createAuth(services.authentication, turns, options.trustedProxyHops);

  const api = new Router<GatewayState>({ prefix: '/api/v1' });
  const routes = [
    ...paymentRoutes(services.payments, pagination),
    ...payoutRoutes(services.payouts, pagination),
    ...refundRoutes(services.refunds, pagination),
    ...payoutBatchRoutes(services.payoutBatches, pagination, validateLarge),
    ...payoutScheduleRoutes(services.payoutSchedules, pagination, validateLarge),
    ...recipientRoutes(services.recipients, pagination),
    ...balanceRoutes(services.balances, pagination),
    ...exportRoutes(services.balances, createAccountTurns(EXPORTS_AT_ONCE)),
    ...reconciliationRoutes(services.balances, validateLarge),
    ...catalogueRoutes(services.catalogue),
    ...eventRoutes(services.events, pagination),
    ...webhookRoutes(services.webhooks, pagination),
    ...apiKeyRoutes(services.keys, pagination),
    ...requestLogRoutes(services.requestLogs, pagination),
  ];
  for (const { operation, steps } of routes) {
    const { method, path, scope } = operation;
    api[method](path.replaceAll(/\{(\w+)\}/g, ':$1'), auth(scope), ...steps);
  }

  const root = new Router<GatewayState>();
  docsRoutes(root, options.publicUrl);
  signingKeyRoutes(root, options.evidenceKey, options.earlierPublicKeys);
  providerCallbackRoutes(root, services.providerCallbacks);
  healthRoutes(root, services.health);

  const app = new Koa<GatewayState>();
  app.use(setRequestId);
  if (options.publicUrl.startsWith('https:')) app.use(requireHttps);
  if (options.followsTraces === true) app.use(followTrace);
  if (options.measure !== undefined) app.use(options.measure);
  app.use(logRequests(logger));
  app.use(keepRequests(services.requestLog));
  app.use(writeErrors(logger, options.publicUrl));
  app.use(refuseInvalidHttp);
  if (options.isDevelopment === true) app.use(refuseForeignHosts(options.publicUrl));
  for (const pages of options.pages ?? []) app.use(pages);
  app.use(api.routes());
  app.use(root.routes());
  app.use(recognizeCaller(services.authentication, options.trustedProxyHops));
  app.use(refuseUnknownPath);
  app.on('error', (error: unknown, ctx?: GatewayContext) => {
    // A client that goes away before its answer has arrived is not an error of the gateway.
    const isGone = ctx?.req.socket.destroyed === true;
    logger[isGone ? 'info' : 'error']({ err: error }, 'an answer could not be sent');
  });
  return app;
}
