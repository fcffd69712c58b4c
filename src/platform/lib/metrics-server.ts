/**
 * A private port with /metrics and nothing else, for a program that is not one of the gateway's. It has
 * no authentication, so keep it in a private network.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scrape } from './metrics';
import { SetupError } from './setup-error';

export interface MetricsServer {
  port: number;
  stop(): Promise<void>;
}

/**
 * @returns null when METRICS_PORT is not set
 * @throws SetupError when it is in use
 */
export async function startMetricsServer(
  { port, host }: { port: number | null; host: string },
  read: () => Promise<Scrape>,
): Promise<MetricsServer | null> {
  if (port === null) return null;
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    read().then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SetupError(`METRICS_PORT ${port} cannot be used (${code ?? 'unknown'}).`);
  }
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
