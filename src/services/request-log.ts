/**
 * Collects the requests of merchants for the log of the dashboard. A request only adds an entry to a
 * list in memory; batches are written in the background. The log never fails or delays a request:
 * under pressure, entries are dropped and counted.
 */
import type { Logger } from 'pino';
import {
  type LoggedRequest,
  STORED_PER_DAY_MAX,
  writeRequestLog,
} from '../db/repositories/request-log';
import type { Db } from '../db/transaction';

/** What is left out, for the metric. */
export const DROP_REASONS = ['buffer_full', 'write_failed', 'daily_maximum'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Bodies are copied up to their maximum, and made readable when they are written. */
export interface RequestToLog extends Omit<LoggedRequest, 'requestBody' | 'responseBody'> {
  requestBody: Buffer | null;
  responseBody: object | null;
}

export interface RequestLog {
  add(request: RequestToLog): void;
  dropped(): Readonly<Record<DropReason, number>>;
  /** Writes what is left. */
  stop(): Promise<void>;
}

export const LOGGED_BODY_BYTES_MAX = 4 * 1024;
const TEXT_LENGTH_MAX = 500;
const BATCH = 500;
const BUFFER_MAX = 5_000;
const WRITE_EVERY_MS = 500;

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
        const stored = await writeRequestLog(db, batch.map(readable));
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

  /** As PostgreSQL counts them: succeeded and failed apart. */
  #kindOf({ accountId, mode, status, at }: RequestToLog): string {
    const day = Math.floor(at.getTime() / DAY_MS);
    if (day > this.#day) {
      this.#day = day;
      this.#counts.clear();
    }
    return `${day}:${accountId}:${mode}:${status >= 400}`;
  }
}

function readable({ requestBody, responseBody, ...request }: RequestToLog): LoggedRequest {
  const short = (text: string) => redact(text).slice(0, TEXT_LENGTH_MAX);
  return {
    ...request,
    path: short(request.path),
    query: short(request.query),
    userAgent: short(request.userAgent),
    idempotencyKey: request.idempotencyKey === null ? null : short(request.idempotencyKey),
    requestBody: requestBody === null ? null : redact(requestBody.toString('utf8')),
    responseBody:
      responseBody === null
        ? null
        : redact(JSON.stringify(responseBody)).slice(0, LOGGED_BODY_BYTES_MAX),
  };
}

const SECRETS = /\b(sk_(?:test|live)_|whsec_)[\w+/=-]{4,}/g;
/** A value whose name says that it is secret; the end may be cut off. */
const SECRET_FIELDS =
  /("(?:[^"\\]*(?:password|passphrase|secret|token|private_?key|api_?key|authorization|mnemonic|seed)[^"\\]*)"\s*:\s*")(?:[^"\\]|\\.)*("?)/gi;

/** Without secrets that were sent by mistake, and without what PostgreSQL cannot store. */
export function redact(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '')
    .replace(SECRETS, '$1[redacted]')
    .replace(SECRET_FIELDS, '$1[redacted]$2');
}
