/** Metrics for Prometheus: the process, and the duration of requests. */
import { Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { type GatewayMiddleware, routePattern } from '../context';

export interface Metrics {
  measure: GatewayMiddleware;
  /** The text for GET /metrics of the private port, and its media type. */
  read(): Promise<{ contentType: string; text: string }>;
}

/** Each application has its own registry, so that a process can contain several. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    measure: async (ctx, next) => {
      const stopTimer = duration.startTimer();
      await next();
      stopTimer({ method: ctx.method, route: routePattern(ctx), status: ctx.status });
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
