/** Metrics for Prometheus: the process, the duration of requests, and the last ledger check. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { RequestLog } from '../../services/request-log';
import type { Health } from '../../services/services';
import { type GatewayMiddleware, routePattern } from '../context';

/** A scrape must not wait for a database that does not answer. */
const PATIENCE_MS = 2_000;

export interface Metrics {
  measure: GatewayMiddleware;
  /** The text for GET /metrics of the private port, and its media type. */
  read(): Promise<{ contentType: string; text: string }>;
}

/** Each application has its own registry, so that a process can contain several. */
export function createMetrics(
  { ledgerProvenAt }: Pick<Health, 'ledgerProvenAt'>,
  requestLog?: Pick<RequestLog, 'dropped'>,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  new Gauge({
    name: 'ledger_last_successful_check_timestamp_seconds',
    help: 'Unix time of the last ledger check that found no broken invariant.',
    registers: [registry],
    async collect() {
      const provenAt = await within(PATIENCE_MS, ledgerProvenAt());
      // Without an answer, the last known time stays.
      if (provenAt !== null) this.set(provenAt.getTime() / 1000);
    },
  });
  if (requestLog !== undefined) {
    new Counter({
      name: 'request_log_dropped_total',
      help: 'Requests that are not in the log of the dashboard, by reason.',
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(requestLog.dropped())) {
          this.inc({ reason }, count);
        }
      },
    });
  }
  return {
    measure: async (ctx, next) => {
      const stopTimer = duration.startTimer();
      await next();
      stopTimer({ method: ctx.method, route: routePattern(ctx), status: ctx.status });
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

/** Null after this time, and if it fails. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer));
}
