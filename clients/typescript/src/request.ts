/**
 * One call of the API: sends the request, and sends it again when that can help. All attempts of a call
 * have the same idempotency key, so a payout is created once however often it is sent.
 */
import { randomUUID } from 'node:crypto';
import {
  ApiError,
  ConnectionError,
  errorOf,
  type GatewayError,
  UnexpectedResponseError,
} from './errors';
import { sendWithNode } from './transport';

export interface ClientOptions {
  /** The address of the API, which ends in /api/v1. */
  baseUrl: string;
  /** The API key, `sk_test_…` or `sk_live_…`. Keep it on your server. */
  key: string;
  /** Attempts after the first one; default 4. */
  maxRetries?: number;
  /** The time limit of one attempt; default 30 000. */
  timeoutMs?: number;
  /** Sends the requests in the place of Node's HTTP client. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  maxRetries?: number;
  timeoutMs?: number;
}

export interface CreateOptions extends CallOptions {
  /** The default is a new key for each call. Pass your own to repeat a call after a crash. */
  idempotencyKey?: string;
}

export interface Call extends CreateOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path below the base URL. */
  path: string;
  query?: object;
  body?: object;
  /** The answer is a page of a list. */
  isList?: boolean;
}

/** @param onRetry called before each further attempt, with what went wrong */
export type Send = <Answer>(call: Call, onRetry?: (error: GatewayError) => void) => Promise<Answer>;

const MAX_RETRIES = 4;
const TIMEOUT_MS = 30_000;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 8_000;
/** A gateway that asks for a longer pause is not waited for. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

export function createSend(options: ClientOptions): Send {
  const { baseUrl, key } = checkOptions(options);

  async function attempt(call: Call): Promise<{ answer: unknown; failure: Failure | null }> {
    const { timeoutMs = options.timeoutMs ?? TIMEOUT_MS, signal } = call;
    const timeout = AbortSignal.timeout(timeoutMs);
    const request = {
      method: call.method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
      },
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      // A redirect would send the API key to another address.
      redirect: 'manual' as const,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    };
    try {
      const response = await (options.fetch ?? sendWithNode)(
        baseUrl + call.path + search(call),
        request,
      );
      const text = await response.text();
      const answer = response.ok ? readAnswer(text, call) : null;
      if (answer !== null) return { answer, failure: null };
      const error = response.ok
        ? new UnexpectedResponseError(response.status, text, response.headers)
        : errorOf(response.status, text, response.headers);
      const retryAfter = secondsOf(response.headers.get('retry-after'));
      return { answer, failure: { error, retryAfter, retryable: isRetryable(error) } };
    } catch (cause) {
      signal?.throwIfAborted();
      const what = timeout.aborted ? `did not answer within ${timeoutMs} ms` : 'cannot be reached';
      const error = new ConnectionError(`The gateway at ${baseUrl} ${what}.`, { cause });
      return { answer: null, failure: { error, retryAfter: null, retryable: true } };
    }
  }

  return async <Answer>(call: Call, onRetry?: (error: GatewayError) => void): Promise<Answer> => {
    call.signal?.throwIfAborted();
    const maxRetries = call.maxRetries ?? options.maxRetries ?? MAX_RETRIES;
    for (let retries = 0; ; retries++) {
      const { answer, failure } = await attempt(call);
      if (failure === null) return answer as Answer;
      failure.error.idempotencyKey = call.idempotencyKey;
      const { error, retryAfter, retryable } = failure;
      const tooLong = retryAfter !== null && retryAfter > LONGEST_RETRY_AFTER_SECONDS;
      if (!retryable || tooLong || retries >= maxRetries) throw error;
      onRetry?.(error);
      await pause(delayMs(retries, retryAfter), call.signal);
    }
  };
}

interface Failure {
  error: GatewayError & { status?: number };
  retryAfter: number | null;
  retryable: boolean;
}

/** Whether the same request can succeed later. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (error instanceof ApiError && error.code === 'request_in_progress') return true;
  if (error instanceof UnexpectedResponseError && isCut(error)) return true;
  const status = (error as { status?: unknown }).status;
  return typeof status === 'number' && (status === 408 || status === 429 || status >= 500);
}

/** An answer of the gateway whose rest was lost on the way. */
function isCut({ status, contentType, body }: UnexpectedResponseError): boolean {
  return status < 300 && contentType?.includes('json') === true && parsed(body) === undefined;
}

/** @returns null for what is not an answer of the gateway to this call */
function readAnswer(text: string, { isList = false }: Call): object | null {
  const answer = parsed(text) as
    { data?: unknown; object?: unknown; meta?: unknown } | null | undefined;
  if (typeof answer !== 'object' || answer === null) return null;
  const { data, object, meta } = answer;
  if (isList) return Array.isArray(data) && isObject(meta) ? answer : null;
  return isObject(data) || typeof object === 'string' ? answer : null;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Jitter spreads the clients that failed at the same time; Retry-After is a minimum. */
function delayMs(retries: number, retryAfter: number | null): number {
  const backoff = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** retries);
  const jittered = backoff * (0.5 + Math.random() / 2);
  return retryAfter === null ? jittered : retryAfter * 1_000 + Math.random() * FIRST_DELAY_MS;
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export function newIdempotencyKey(): string {
  return randomUUID();
}

function search({ query = {} }: Call): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(
    entries.map(([name, value]): [string, string] => [name, String(value)]),
  );
  return entries.length === 0 ? '' : `?${text.toString()}`;
}

function secondsOf(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;
}

/** @throws TypeError */
function checkOptions({ baseUrl, key }: ClientOptions): { baseUrl: string; key: string } {
  if (typeof key !== 'string' || !/^sk_(test|live)_[0-9A-Za-z_]+$/.test(key)) {
    throw new TypeError('key must be an API key, which begins with sk_test_ or sk_live_.');
  }
  const isUrl = typeof baseUrl === 'string' && /^https?:\/\/[^/]+.*\/api\/v1\/?$/.test(baseUrl);
  if (isUrl && URL.canParse(baseUrl)) return { baseUrl: baseUrl.replace(/\/$/, ''), key };
  throw new TypeError(
    'baseUrl must be the URL of the API, such as https://pay.example.com/api/v1.',
  );
}
