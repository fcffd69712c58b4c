/**
 * Starts the HTTP server and stops it gracefully. The timeouts close connections that a slow or
 * hostile client would keep open; they do not affect a request that takes long to process.
 */
import { once } from 'node:events';
import { type Server, STATUS_CODES, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { newId } from '../lib/new-id';
import { SetupError } from '../lib/setup-error';
import type { GatewayState } from './context';

/** Longer than the 60 s of common load balancers, so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** To receive the whole request, at most 64 KiB. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Then running requests are cut off; idempotency keys make a retry safe. */
const STOP_TIMEOUT_MS = 1_400;
const IDLE_CHECK_MS = 25;

export interface RunningServer {
  port: number;
  /** Accepts no more requests, finishes the running ones, and returns within 1.5 s. */
  stop(): Promise<void>;
}

/**
 * @param host the address to listen on; without it, all
 * @throws SetupError when the port cannot be used
 */
export async function startServer(
  app: Koa<GatewayState>,
  port: number,
  host?: string,
): Promise<RunningServer> {
  const handle = app.callback();
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => {
      // Koa handles every error itself; its promise never rejects.
      void handle(request, response);
    },
  );
  server.on('clientError', answerNoRequest);
  await listen(server, port, host);
  let stopping: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => (stopping ??= stop(server)),
  };
}

async function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new SetupError(
        `Port ${port} is in use by another program. Stop it, or set PORT to a free one.`,
      );
    }
    if (code === 'EACCES') {
      throw new SetupError(`Port ${port} needs more rights. Set PORT to one above 1023.`);
    }
    throw error;
  }
}

/** Invalid HTTP reaches no middleware, but its response also has an id (decision W4). */
function answerNoRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 431
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 408
        : 400;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n` +
      `X-Request-Id: ${newId('request')}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A connection that was busy when the server closed becomes idle after its response.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(deadline);
}
