/** For operators: liveness, readiness and metrics of the process. */
import type Router from '@koa/router';
import type { Health } from '../../services/services';
import type { GatewayState } from '../context';
import type { Metrics } from '../middleware/metrics';

/** Of every 503 (decision W9). */
const RETRY_AFTER_SECONDS = 5;

export function healthRoutes(router: Router<GatewayState>, health: Health, metrics: Metrics): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const parts = await health.check();
    const ready = Object.values(parts).every((problem) => problem === null);
    ctx.status = ready ? 200 : 503;
    if (!ready) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
    ctx.body = {
      status: ready ? 'ready' : 'not_ready',
      parts: Object.fromEntries(
        Object.entries(parts).map(([part, problem]) => [part, problem ?? 'ok']),
      ),
    };
  });

  // In Prometheus' text format.
  router.get('/metrics', async (ctx) => {
    const { contentType, text } = await metrics.read();
    ctx.set('Content-Type', contentType);
    ctx.body = text;
  });
}
