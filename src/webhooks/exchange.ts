/**
 * One HTTP exchange on an established connection: the request, the response headers, and the stored
 * part of the response body. The connection is used once and then closed.
 */
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { AttemptFailure, CLOSED_EARLY, exchangeFailure } from './attempt-result';

export interface Deadline {
  /** Aborts at the deadline. */
  signal: AbortSignal;
  /** Must be called when the headers are complete, because the deadline is then met. */
  stop: () => void;
}

export interface ExchangeRequest {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
}

export interface HttpResponse {
  status: number;
  headers: [name: string, value: string][];
  body: Buffer;
  truncated: boolean;
}

const HEADER_BYTES_MAX = 16 * 1024;
const BODY_BYTES_MAX = 16 * 1024;
const HEADERS_KEPT_MAX = 64;
const HEADER_LENGTH_KEPT_MAX = 1024;
/** Session cookies of the receiver are secrets and must not be stored. */
const HEADERS_NOT_KEPT = new Set(['set-cookie', 'set-cookie2']);

/**
 * @param deadline ends the wait for the headers, and is stopped when they are complete
 * @param bodyMs the time limit for the body after that
 * @throws AttemptFailure
 */
export async function exchange(
  socket: Socket,
  request: ExchangeRequest,
  deadline: Deadline,
  bodyMs: number,
): Promise<HttpResponse> {
  const client = clientOn(socket, request.url);
  // undici's `signal` has no effect before the request is sent; this works at any time.
  const giveUp = (): void =>
    void client.destroy(new AttemptFailure('timeout', 'The receiver did not respond in time.'));
  deadline.signal.addEventListener('abort', giveUp, { once: true });
  try {
    if (deadline.signal.aborted) giveUp();
    const response = await send(client, request);
    deadline.stop();
    return {
      status: response.statusCode,
      headers: keptHeaders(rawHeaders(response.headers)),
      ...(await readStart(response.body, bodyMs)),
    };
  } finally {
    deadline.signal.removeEventListener('abort', giveUp);
    await client.destroy();
    socket.destroy();
  }
}

/** A client that uses this connection and cannot open another one. */
function clientOn(socket: Socket, url: URL): Client {
  let unused: Socket | null = socket;
  return new Client(url.origin, {
    connect: (_options, callback) => {
      const given = unused;
      unused = null;
      // undici ignores a socket that is passed to the callback synchronously.
      queueMicrotask(() => {
        if (given === null) callback(new AttemptFailure('connection_reset', CLOSED_EARLY), null);
        else callback(null, given);
      });
    },
    maxHeaderSize: HEADER_BYTES_MAX,
    // The deadline and the body's time limit apply; undici's timers restart with each byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
}

async function send(
  client: Client,
  { url, headers, body }: ExchangeRequest,
): Promise<Dispatcher.ResponseData> {
  try {
    return await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers,
      body,
      reset: true,
      responseHeaders: 'raw',
      highWaterMark: BODY_BYTES_MAX,
    });
  } catch (error) {
    if (error instanceof AttemptFailure) throw error;
    throw exchangeFailure(error);
  }
}

/**
 * Reads the first 16 KiB. If the body ends early, the response still counts, because its status is
 * known.
 */
async function readStart(
  body: Dispatcher.ResponseData['body'],
  bodyMs: number,
): Promise<{ body: Buffer; truncated: boolean }> {
  const timer = setTimeout(() => body.destroy(), bodyMs);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > BODY_BYTES_MAX) break;
    }
    return keptBody(chunks, length > BODY_BYTES_MAX);
  } catch {
    return keptBody(chunks, true);
  } finally {
    clearTimeout(timer);
  }
}

/** The stored part of the body. It is a copy, because a slice would keep all chunks in memory. */
function keptBody(chunks: Buffer[], truncated: boolean): { body: Buffer; truncated: boolean } {
  return { body: Buffer.from(Buffer.concat(chunks).subarray(0, BODY_BYTES_MAX)), truncated };
}

/** With `responseHeaders: 'raw'` undici returns a flat list, which its types do not express. */
function rawHeaders(headers: unknown): string[] {
  if (!Array.isArray(headers)) throw new TypeError('undici did not return raw headers');
  return headers.map(String);
}

/** @param raw alternating names and values */
function keptHeaders(raw: readonly string[]): [string, string][] {
  return raw
    .flatMap((name, index): [string, string][] =>
      index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1] ?? '']] : [],
    )
    .filter(([name]) => !HEADERS_NOT_KEPT.has(name))
    .slice(0, HEADERS_KEPT_MAX)
    .map(([name, value]) => {
      const kept = name.slice(0, HEADER_LENGTH_KEPT_MAX);
      return [kept, value.slice(0, HEADER_LENGTH_KEPT_MAX - kept.length)];
    });
}
