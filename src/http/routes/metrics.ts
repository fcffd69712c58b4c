/** GET /metrics, in Prometheus' text format. */
import type Router from '@koa/router';
import type { GatewayState } from '../context';
import type { Metrics } from '../middleware/metrics';

export function metricsRoutes(router: Router<GatewayState>, metrics: Metrics): void {
  router.get('/metrics', async (ctx) => {
    const { contentType, text } = await metrics.read();
    ctx.set('Content-Type', contentType);
    ctx.body = text;
  });
}
