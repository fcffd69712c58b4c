/** The worker process: runs the workflows and their activities. Run as many as needed. */
import { createActivities } from '../../activities';
import { readConfig } from '../config';
import { buildActivityDeps, buildDeps } from '../deps';
import { runProcess } from '../lib/run-process';
import { ensureSchedules } from '../temporal/schedules';
import { installTemporalLogger, startWorkers } from '../temporal/worker';

const HELP = `Usage: worker [--help]

Runs the workflows of the task queues "payouts" and "payments", and their activities.
Its environment is described in docs/operations.md; what is missing is named at the start.
`;

runProcess(HELP, async () => {
  const config = readConfig(process.env);
  const deps = buildDeps(config, 'worker');
  installTemporalLogger(deps.logger);
  const worker = await startWorkers({
    ...config.temporal,
    ...config.worker,
    activities: createActivities(buildActivityDeps(deps)),
  });
  await ensureSchedules(deps.temporal);
  deps.logger.info('worker polling');
  return {
    ended: worker.ended,
    stop: async () => {
      await worker.stop();
      await deps.close();
    },
  };
});
