/**
 * One HTTP exchange on a connection that stands: the request, the answer's headers, and as much of
 * its body as is kept. The connection is used for nothing else and ends with it.
 */
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { AttemptFailure, exchangeFailure } from './attempt-failure';

export interface Deadline {
  /** Aborts at the deadline. */
  signal: AbortSignal;
  /** The headers are here, the deadline is met. */
  stop: () => void;
}

export interface ExchangeRequest {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Answer {
  status: number;
  headers: [name: string, value: string][];
  body: Buffer;
  truncated: boolean;
}

const HEADER_BYTES_MAX = 16 * 1024;
const BODY_BYTES_MAX = 16 * 1024;
const HEADERS_KEPT_MAX = 64;
const HEADER_LENGTH_KEPT_MAX = 1024;
/** A receiver's session is none of our business, and a secret that should not lie about. */
const HEADERS_NOT_KEPT = new Set(['set-cookie', 'set-cookie2']);

/**
 * @param deadline ends the wait for the headers, and is stopped when they are complete
 * @param bodyMs the time that the body has after that
 * @throws AttemptFailure
 */
export async function exchange(
  socket: Socket,
  request: ExchangeRequest,
  deadline: Deadline,
  bodyMs: number,
): Promise<Answer> {
  const client = clientOn(socket, request.url);
  // Not undici's `signal`: that is heard only once a request is under way, and this one always.
  const giveUp = (): void =>
    void client.destroy(new AttemptFailure('timeout', 'No answer came in time.'));
  deadline.signal.addEventListener('abort', giveUp, { once: true });
  try {
    if (deadline.signal.aborted) giveUp();
    const answer = await ask(client, request);
    deadline.stop();
    return {
      status: answer.statusCode,
      headers: keptHeaders(answer.headers as unknown as string[]),
      ...(await readStart(answer.body, bodyMs)),
    };
  } finally {
    deadline.signal.removeEventListener('abort', giveUp);
    await client.destroy();
    socket.destroy();
  }
}

/** A client that has this one connection and cannot open another. */
function clientOn(socket: Socket, url: URL): Client {
  let unused: Socket | null = socket;
  return new Client(url.origin, {
    connect: (_options, callback) => {
      const given = unused;
      unused = null;
      // Later, because undici overlooks a socket that it gets while it still asks for it.
      queueMicrotask(() => {
        if (given === null) callback(new AttemptFailure('connection_reset', CLOSED), null);
        else callback(null, given);
      });
    },
    maxHeaderSize: HEADER_BYTES_MAX,
    // The clock and the body's time bound everything; undici's timers start over with each byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
}

const CLOSED = 'The connection was closed before an answer came.';

async function ask(
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

/** The first 16 KiB. Whatever ends the body early, the answer counts: its status is known. */
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
    return cut(chunks, length > BODY_BYTES_MAX);
  } catch {
    return cut(chunks, true);
  } finally {
    clearTimeout(timer);
  }
}

/** A copy: a slice would keep the whole of the chunks alive. */
function cut(chunks: Buffer[], truncated: boolean): { body: Buffer; truncated: boolean } {
  return { body: Buffer.from(Buffer.concat(chunks).subarray(0, BODY_BYTES_MAX)), truncated };
}

/** @param raw names and values in turn */
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
