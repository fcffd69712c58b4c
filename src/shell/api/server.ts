/**
 * Starts the HTTP server and stops it gracefully. The timeouts close connections that a slow or
 * hostile client would keep open; they do not affect a request that takes long to process.
 */
import { once } from 'node:events';
import { type RequestListener, type Server, STATUS_CODES, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { ApiError, type ErrorCode } from '../../domain/errors';
import type { Scrape } from '../../platform/lib/metrics';
import { newId } from '../../platform/lib/new-id';
import { SetupError } from '../../platform/lib/setup-error';
import type { Health } from '../../kit/service/services';
import type { GatewayState } from '../../kit/api/context';
import { errorBody } from '../../kit/api/write-errors';
import { createPrivateApp } from './health-api';

/**
 * The time is longer than the 60 s of common load balancers, so that they close idle connections first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** A client has this long to send the whole request, which has at most 64 KiB. */
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Node looks for connections that are over their timeouts at this interval; its default is half a
 * minute.
 */
const TIMEOUT_CHECK_MS = 500;
/** After this time running requests are cut off; idempotency keys make a retry safe. */
const STOP_TIMEOUT_MS = 1_400;
const IDLE_CHECK_MS = 25;

export interface RunningServer {
  port: number;
  /** Each response from now on closes its connection, so that clients open the next one elsewhere. */
  drain(): void;
  /** Accepts no more requests, finishes the running ones, and returns within 1.5 s. */
  stop(): Promise<void>;
}

/**
 * @param host the address to listen on; without it, the server listens on all addresses
 * @param variable the name of the setting of the port, for the error
 * @throws SetupError when the port cannot be used
 */
export async function startServer(
  app: Koa<GatewayState>,
  port: number,
  host: string | null = null,
  variable = 'PORT',
): Promise<RunningServer> {
  const handle = app.callback();
  let isDraining = false;
  const listener: RequestListener = (request, response) => {
    if (isDraining) response.setHeader('connection', 'close');
    // Koa handles every error itself; its promise never rejects.
    void handle(request, response);
  };
  const options = {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    // The application checks the Host header, so that the answer has the error envelope.
    requireHostHeader: false,
  };
  const server = createServer(options, listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket) => answerInvalidHttp('invalid_request', socket));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else answerInvalidHttp(CLIENT_ERRORS[error.code ?? ''] ?? 'invalid_request', socket);
  });
  await listen(server, port, host, variable);
  let stopping: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      isDraining = true;
    },
    stop: () => (stopping ??= stop(server)),
  };
}

/**
 * Starts the private port of a process, with metrics and the reasons of a 503. Null if METRICS_PORT is
 * not set.
 */
export async function startPrivateServer(
  { metrics: { port, host } }: { metrics: { port: number | null; host: string } },
  health: Health,
  readMetrics: () => Promise<Scrape>,
  logger: Logger,
): Promise<RunningServer | null> {
  if (port === null) return null;
  const app = createPrivateApp(health, readMetrics, logger);
  const server = await startServer(app, port, host, 'METRICS_PORT');
  logger.info({ port: server.port }, 'metrics listening');
  return server;
}

async function listen(
  server: Server,
  port: number,
  host: string | null,
  variable: string,
): Promise<void> {
  server.listen(port, host ?? undefined);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new SetupError(
        `Port ${port} is in use by another program. Stop it, or set ${variable} to a free one.`,
      );
    }
    if (code === 'EACCES') {
      throw new SetupError(`Port ${port} needs more rights. Set ${variable} to one above 1023.`);
    }
    throw error;
  }
}

type InvalidHttp = Extract<ErrorCode, 'invalid_request' | 'headers_too_large' | 'request_timeout'>;

const CLIENT_ERRORS: Readonly<Record<string, InvalidHttp>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Answers what is not a valid HTTP request. It reaches no middleware, and has an id and the envelope
 * all the same (decisions/api#request-ids and decisions/api#errors).
 */
function answerInvalidHttp(code: InvalidHttp, socket: Duplex): void {
  const requestId = newId('request');
  const refusal = new ApiError({ code });
  const body = JSON.stringify(errorBody(refusal, requestId));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
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
