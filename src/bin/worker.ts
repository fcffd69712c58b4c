/** The worker process: runs the workflows and their activities. Run as many as needed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createActivities } from '../../activities';
import { LOCAL_CALLS_MAX } from '../../activities/local-calls';
import { readWorkerConfig } from '../shell/config';
import { buildActivityDeps, buildDeps, type Deps } from '../shell/deps';
import { requireService } from '../db/screening/screening';
import { startPrivateServer } from '../shell/api/server';
import { scrape } from '../platform/lib/metrics';
import { runProcess } from '../platform/lib/run-process';
import { chooseSdkExporter } from '../platform/lib/temporal-sdk-metrics';
import { createHealth } from '../shell/api/health';
import { measureOperations } from '../shell/operating-metrics';
import { openNativeConnection } from '../temporal/probe';
import { reloadCredentials } from '../temporal/reload';
import { ensureSchedules } from '../temporal/schedules';
import { connectWorkers, installTemporalRuntime, startWorkers } from '../temporal/worker';

const DATABASE_PAUSE_MS = 2_000;

const HELP = `Usage: worker [--help]

Runs the workflows and activities of the task queues "payouts", "batches", "payments", "webhooks",
"webhooks-retry" and of the providers, or of those in WORKER_QUEUES. Serves /metrics and /readyz on
METRICS_PORT.
docs/operations.md describes its environment; missing variables are reported at the start.
`;

runProcess(HELP, async (env) => {
  const config = readWorkerConfig(env);
  const deps = buildDeps(config, 'worker');
  const exporter = config.metrics.port === null ? null : await chooseSdkExporter();
  installTemporalRuntime(deps.logger, exporter);
  measureOperations(deps.registry, deps.db);
  warnOfPrivateNetworks(deps);
  const health = createHealth(deps);
  const privateServer = await startPrivateServer(
    config,
    health,
    () => scrape(deps.registry, exporter?.url ?? null),
    deps.logger,
  );
  // The service stays required until an operator removes it: a worker without the setting must not send what this one would ask about.
  if (deps.screeningService !== null) await requireWhenPossible(deps);
  const connection = await connectWorkers(config.temporal);
  const activityDeps = buildActivityDeps(deps, connection.connection);
  const worker = await startWorkers({
    ...config.temporal,
    connection,
    ...config.worker,
    maxTransactions: config.databasePoolSize,
    maxLocalCalls: config.worker.providerQueues.length * LOCAL_CALLS_MAX,
    activities: createActivities(activityDeps),
  });
  const reload = reloadCredentials(config.temporal, deps.logger, async (credentials) => {
    worker.renew(await openNativeConnection(config.temporal));
    deps.temporal.renew(credentials);
  });
  await ensureSchedules(deps.temporal);
  deps.logger.info('worker polling');
  health.watch();
  return {
    ended: worker.ended,
    stop: async () => {
      health.drain();
      reload.stop();
      await privateServer?.stop();
      await worker.stop();
      await activityDeps.webhookDeliveryStarter.drain();
      await connection.close();
      await deps.close();
    },
  };
});

/** Waits for PostgreSQL: whoever starts a worker again that ended pauses longer each time. */
async function requireWhenPossible({ db, logger }: Deps): Promise<void> {
  for (;;) {
    try {
      await requireService(db);
      return;
    } catch (error) {
      logger.warn({ err: error }, 'PostgreSQL cannot be used yet: the worker waits for it');
      await sleep(DATABASE_PAUSE_MS);
    }
  }
}

/**
 * Warns of the private networks that webhooks may go to, beside public addresses
 * (decisions/webhooks#webhook-targets).
 */
function warnOfPrivateNetworks({ config, logger }: Deps): void {
  const { allowCidrs, testMode } = config.webhooks;
  if (allowCidrs.length > 0) {
    logger.warn(
      { allowCidrs },
      'live webhooks may also go to these networks (WEBHOOK_LIVE_ALLOW_CIDRS)',
    );
  }
  if (testMode.allowedHosts.length > 0) {
    logger.warn(
      { allowCidrs: testMode.allowCidrs },
      'test webhooks may go to this machine (development, WEBHOOK_ALLOW_CIDRS is not set)',
    );
  } else if (testMode.allowCidrs.length > 0) {
    logger.warn(
      { allowCidrs: testMode.allowCidrs },
      'test webhooks may also go to these networks (WEBHOOK_ALLOW_CIDRS)',
    );
  }
}
