/** The API process: REST for merchants, callbacks of providers, and the pages. Run as many as needed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readApiConfig } from '../shell/config';
import { buildDeps, buildPages, buildServices, type Deps } from '../shell/deps';
import { createApp } from '../shell/api/app';
import { measureRequests } from '../shell/api/metrics';
import { startPrivateServer, startServer } from '../shell/api/server';
import { scrape } from '../platform/lib/metrics';
import { runProcess } from '../platform/lib/run-process';
import { wallClockMs } from '../platform/lib/wall-clock';
import { reloadCredentials } from '../temporal/reload';

/** A cluster that starts at the same time may take longer. */
const TEMPORAL_PATIENCE_MS = 5_000;

const HELP = `Usage: api [--help]

Serves /api/v1, /provider-callbacks, /healthz, /servingz and /readyz on PORT (3000), /dashboard and /console
if DASHBOARD_DATABASE_URL is set, and /metrics and /readyz with details on METRICS_PORT.
docs/operations.md describes its environment; missing variables are reported at the start.
`;

runProcess(HELP, async (env) => {
  const deps = buildDeps(readApiConfig(env), 'api');
  const { config, logger, registry } = deps;
  const services = buildServices(deps);
  const measure = measureRequests(registry, services.requestLog);
  const pages = buildPages(deps, services);
  const app = createApp({ ...config, services, pages, measure, logger });
  const readMetrics = () => scrape(registry, null);
  const privateServer = await startPrivateServer(config, services.health, readMetrics, logger);
  const server = await startServer(app, config.port, config.host);
  logger.info({ port: server.port }, 'api listening');
  services.health.watch();
  void warnWithoutTemporal(deps);
  const reload = reloadCredentials(config.temporal, logger, (credentials) => {
    deps.temporal.renew(credentials);
    return Promise.resolve();
  });
  return {
    stop: async () => {
      services.health.drain();
      server.drain();
      await sleep(config.drainMs);
      reload.stop();
      services.events.stopWaiting();
      await Promise.all([server.stop(), privateServer?.stop()]);
      await services.requestLog.stop();
      await deps.close();
    },
  };
});

/** The API starts without Temporal and serves reads, so the log names what is wrong. */
async function warnWithoutTemporal({ config, logger, temporal }: Deps): Promise<void> {
  const { namespace } = config.temporal;
  try {
    await temporal.withDeadline(wallClockMs() + TEMPORAL_PATIENCE_MS, () =>
      temporal.workflowService.describeNamespace({ namespace }),
    );
  } catch {
    // The module is loaded only now, because it is large and no other part of this process needs it.
    const { openNativeConnection } = await import('../temporal/probe.js');
    await openNativeConnection(config.temporal).then(
      (connection) => connection.close(),
      (error: unknown) => {
        logger.warn({ err: error }, 'Temporal cannot be used yet: payouts and payments get 503');
      },
    );
  }
}
