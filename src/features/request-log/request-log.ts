/**
 * Collects the requests of merchants for the log of the dashboard. A request only adds an entry to a
 * list in memory; batches are written in the background. The log never fails or delays a request:
 * under pressure, entries are dropped and counted.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type LoggedRequest,
  STORED_PER_DAY_MAX,
  writeRequestLog,
} from '../../db/request-log/request-log';
import type { Db } from '../../db/transaction';
import { redactBody, redactEncoded, redactQuery } from './redaction';

/** The reasons for which requests are dropped, as labels of the metric. */
export const DROP_REASONS = ['buffer_full', 'write_failed', 'daily_maximum'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Bodies are copied up to their maximum, and made readable when they are written. */
export interface RequestToLog extends Omit<LoggedRequest, 'requestBody' | 'responseBody'> {
  requestBody: Buffer | null;
  responseBody: Buffer | object | null;
}

export interface RequestLog {
  add(request: RequestToLog): void;
  dropped(): Readonly<Record<DropReason, number>>;
  /** Writes the entries that are left, and ends. */
  stop(): Promise<void>;
}

export const LOGGED_BODY_BYTES_MAX = 4 * 1024;
const TEXT_LENGTH_MAX = 500;
/** An escape of a character has three characters, and is redacted before it is cut. */
const ENCODED_LENGTH_MAX = 4 * TEXT_LENGTH_MAX;
const BATCH = 500;
const BUFFER_MAX = 5_000;
const WRITE_EVERY_MS = 500;
/** After this much work on a batch other requests are answered; a body takes less than a millisecond. */
const WORK_AT_ONCE_MS = 5;
/** The work on a batch. After it the bodies of the others are not kept. */
const BATCH_WORK_MS_MAX = 1_000;

export function createRequestLog({ db, logger }: { db: Db; logger: Logger }): RequestLog {
  let waiting: RequestToLog[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  const dropped = { buffer_full: 0, write_failed: 0, daily_maximum: 0 };
  const written = new Written();

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        const stored = await writeRequestLog(db, await allReadable(batch));
        dropped.daily_maximum += batch.length - stored;
        batch.forEach((request) => {
          written.add(request);
        });
      } catch (error) {
        dropped.write_failed += batch.length;
        logger.warn({ err: error, requests: batch.length }, 'the request log was not written');
      }
    }
  }

  /** One batch at a time, so that the log takes at most one connection. */
  function writeAll(): Promise<void> {
    timer = null;
    writing ??= write().finally(() => {
      writing = null;
    });
    return writing;
  }

  return {
    add: (request) => {
      if (written.isFull(request)) {
        dropped.daily_maximum += 1;
        return;
      }
      if (waiting.length >= BUFFER_MAX) {
        dropped.buffer_full += 1;
        return;
      }
      waiting.push(request);
      timer ??= setTimeout(() => void writeAll(), WRITE_EVERY_MS).unref();
    },
    dropped: () => dropped,
    stop: async () => {
      if (timer !== null) clearTimeout(timer);
      await writing;
      await writeAll();
    },
  };
}

const DAY_MS = 86_400_000;

/** What this process has written today: after the maximum of a merchant, PostgreSQL would store nothing. */
class Written {
  #day = 0;
  readonly #counts = new Map<string, number>();

  add(request: RequestToLog): void {
    const kind = this.#kindOf(request);
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  isFull(request: RequestToLog): boolean {
    return (this.#counts.get(this.#kindOf(request)) ?? 0) >= STORED_PER_DAY_MAX;
  }

  /** The counter of a request. Succeeded and failed requests are counted apart, as in PostgreSQL. */
  #kindOf({ accountId, mode, status, at }: RequestToLog): string {
    const day = Math.floor(at.getTime() / DAY_MS);
    if (day > this.#day) {
      this.#day = day;
      this.#counts.clear();
    }
    return `${day}:${accountId}:${mode}:${status >= 400}`;
  }
}

/** Redacts a batch in parts, between which requests are answered. */
async function allReadable(batch: readonly RequestToLog[]): Promise<LoggedRequest[]> {
  const entries: LoggedRequest[] = [];
  let workedMs = 0;
  let begunAt = performance.now();
  for (const request of batch) {
    const isLate = workedMs > BATCH_WORK_MS_MAX;
    entries.push(
      readable(isLate ? { ...request, requestBody: null, responseBody: null } : request),
    );
    const ms = performance.now() - begunAt;
    if (ms < WORK_AT_ONCE_MS) continue;
    workedMs += ms;
    await nextTurn();
    begunAt = performance.now();
  }
  return entries;
}

function readable({ requestBody, responseBody, ...request }: RequestToLog): LoggedRequest {
  const text = (sent: string, redact = redactEncoded) =>
    redact(sent.slice(0, ENCODED_LENGTH_MAX)).slice(0, TEXT_LENGTH_MAX);
  const body = (sent: string) =>
    redactBody(sent.slice(0, LOGGED_BODY_BYTES_MAX)).slice(0, LOGGED_BODY_BYTES_MAX);
  return {
    ...request,
    path: text(request.path),
    query: text(request.query, redactQuery),
    userAgent: text(request.userAgent),
    idempotencyKey: request.idempotencyKey === null ? null : text(request.idempotencyKey),
    requestBody: requestBody === null ? null : body(textOf(requestBody)),
    responseBody: responseBody === null ? null : body(textOf(responseBody)),
  };
}

function textOf(body: Buffer | object): string {
  return Buffer.isBuffer(body) ? body.toString('utf8') : JSON.stringify(body);
}
