/** Metrics of the API: the duration of requests, refusals, and what the log of requests left out. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { UNAVAILABLE_REASONS } from '../../domain/errors';
import type { RequestLog } from '../../features/request-log/request-log';
import { type GatewayMiddleware, type GatewayState, routePattern } from '../../kit/api/context';

/** @param registry the process's registry (src/platform/lib/metrics.ts) */
export function measureRequests(
  registry: Registry,
  requestLog: Pick<RequestLog, 'dropped'>,
): GatewayMiddleware {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'gateway_refusals_total',
    help: 'Answers with an error, by its code; service_unavailable also by its reason.',
    labelNames: ['code', 'reason'],
    registers: [registry],
  });
  // Counters start at zero, so that the first refusal already counts as an increase.
  for (const reason of UNAVAILABLE_REASONS)
    refusals.inc({ code: 'service_unavailable', reason }, 0);
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
  return async (ctx, next) => {
    const stopTimer = duration.startTimer();
    await next();
    stopTimer({ method: ctx.method, route: routePattern(ctx), status: ctx.status });
    const { errorCode, errorReason } = ctx.state as Partial<GatewayState>;
    if (errorCode === undefined) return;
    refusals.inc({ code: errorCode, ...(errorReason !== undefined && { reason: errorReason }) });
  };
}
