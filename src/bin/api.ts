/** The API process: REST for merchants, callbacks of providers. Run as many as needed. */
import { readConfig } from '../config';
import { buildDeps, buildServices } from '../deps';
import { createApp } from '../http/app';
import { startServer } from '../http/server';
import { runProcess } from '../lib/run-process';

const HELP = `Usage: api [--help]

Serves /api/v1, /provider-callbacks, /healthz, /readyz and /metrics on PORT (3000).
docs/operations.md describes its environment; missing variables are reported at the start.
`;

runProcess(HELP, async () => {
  const deps = buildDeps(readConfig(process.env), 'api');
  const { config, logger } = deps;
  const app = createApp({ ...config, services: buildServices(deps), logger });
  const server = await startServer(app, config.port, config.host);
  logger.info({ port: server.port }, 'api listening');
  return {
    stop: async () => {
      await server.stop();
      await deps.close();
    },
  };
});
