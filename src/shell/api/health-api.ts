/**
 * Liveness, readiness and metrics. Without a key, the public port tells only 200 or 503; the reasons
 * and the metrics are on a private port, which every process has (METRICS_PORT).
 */
import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Scrape } from '../../platform/lib/metrics';
import type { Health } from '../../kit/service/services';
import type { GatewayState } from '../../kit/api/context';
import { refuseInvalidHttp, refuseUnknownPath, writeErrors } from '../../kit/api/write-errors';
import { setRequestId } from '../../features/request-log/record-requests';

/** Sent with every 503 (decisions/api#retry-after). */
const RETRY_AFTER_SECONDS = 5;

export function healthRoutes(router: Router<GatewayState>, health: Health): void {
  processRoutes(router, health);
  router.get('/readyz', async (ctx) => {
    const { ready } = await health.check();
    ctx.status = ready ? 200 : 503;
    if (!ready) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
    ctx.body = { status: ready ? 'ready' : 'not_ready' };
  });
}

/** What concerns this process alone, so that neither asks another program. */
function processRoutes(router: Router<GatewayState>, health: Health): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/servingz', (ctx) => {
    const isServing = health.isServing();
    ctx.status = isServing ? 200 : 503;
    if (!isServing) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
    ctx.body = { status: isServing ? 'serving' : 'not_serving' };
  });
}

/** The application of the private port: /metrics, and /readyz with the state of each part. */
export function createPrivateApp(
  health: Health,
  readMetrics: () => Promise<Scrape>,
  logger: Logger,
): Koa<GatewayState> {
  const router = new Router<GatewayState>();
  processRoutes(router, health);
  router.get('/readyz', async (ctx) => {
    const { ready, parts } = await health.check();
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ready' : 'not_ready', parts };
  });

  // The metrics are in Prometheus' text format.
  router.get('/metrics', async (ctx) => {
    const { contentType, text } = await readMetrics();
    ctx.set('Content-Type', contentType);
    ctx.body = text;
  });

  const app = new Koa<GatewayState>();
  app.use(setRequestId);
  app.use(writeErrors(logger));
  app.use(refuseInvalidHttp);
  app.use(router.routes());
  app.use(refuseUnknownPath);
  return app;
}
