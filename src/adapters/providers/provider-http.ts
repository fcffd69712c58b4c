/**
 * One HTTP call to a provider, or to the screening service, from the adapters. Whatever happens comes back as a value: an
 * answer that is JSON, a 429, or `unknown` with a sentence that names no address, key or content.
 * Nothing is retried and no redirect is followed here, because only the caller knows what is safe
 * twice.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { parse } from 'lossless-json';
import type { Mode } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import {
  AnswerTooLarge,
  createHttpConnections,
  type HttpConnections,
  readText,
} from '../../platform/lib/http-call';
import { traceHeaders } from '../../platform/lib/trace';
import { wallClockMs } from '../../platform/lib/wall-clock';
import type { Limited, Unknown } from './port';

/** Numbers in `body` are no JavaScript numbers (lossless-json), so none passes for an amount. */
export interface JsonAnswer {
  kind: 'answer';
  status: number;
  body: unknown;
}

export type ProviderAnswer = JsonAnswer | Limited | Unknown;

export interface ProviderCall {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Set when the call has less than the provider's usual time. */
  atMostMs?: number;
}

export type CallProvider = (call: ProviderCall) => Promise<ProviderAnswer>;

/** Shorter than the API waits (features/payments/payments.ts), so that the error names the provider. */
export const OPENING_MS_MAX = 4_000;
/** A transfer is a few hundred bytes; more than this is not an answer to our question. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** Connections to one provider address. Further calls queue, and their deadline runs while they do. */
const CONNECTIONS = 100;

/** A call did not end within the limit of its caller, although the provider's usual time was not over. */
export class SlowProvider extends Error {}

/** When the calls of the current activity have to end, by the monotonic clock. */
const limit = new AsyncLocalStorage<number>();

/** @throws SlowProvider when a call has not ended after `ms`; the provider may have received it */
export function limitCalls<T>(ms: number, calls: () => Promise<T>): Promise<T> {
  return limit.run(performance.now() + ms, calls);
}

export function createProviderAgent(): HttpConnections {
  return createHttpConnections({ maxSockets: CONNECTIONS });
}

/** @param who the subject of the sentences about what went wrong */
export function createProviderCaller(
  agent: HttpConnections,
  usualMs: number,
  who = 'The provider',
): CallProvider {
  return async ({ url, atMostMs = usualMs, ...call }) => {
    const ownMs = Math.min(usualMs, atMostMs);
    const leftMs = Math.max(1, Math.floor((limit.getStore() ?? Infinity) - performance.now()));
    const timeoutMs = Math.min(ownMs, leftMs);
    // The signal bounds the whole call: a slow drip cannot stretch it.
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const headers = { ...call.headers, ...traceHeaders() };
      const answer = await agent.send(url, { ...call, headers, signal: deadline });
      const { statusCode = 0 } = answer;
      if (statusCode === TOO_MANY_REQUESTS) {
        // Whatever the body is, and however long it takes, the provider has refused the call.
        answer.on('error', () => undefined).destroy();
        return limited(answer.headers['retry-after'], who);
      }
      return readAnswer(statusCode, await readText(answer, ANSWER_BYTES_MAX), who);
    } catch (error) {
      if (deadline.aborted && leftMs < ownMs) {
        throw new SlowProvider(`${who} is slow.`);
      }
      return { kind: 'unknown', reason: describeTrouble(error, deadline, timeoutMs, who) };
    }
  };
}

/** What became of a call, for the metrics: `unclear` when the provider may or may not have received it. */
export type CallOutcome = 'ok' | 'refused' | 'limited' | 'failed' | 'unclear';

export interface ObservedCall {
  provider: ProviderCode;
  mode: Mode;
  outcome: CallOutcome;
  seconds: number;
}

export type CallObserver = (call: ObservedCall) => void;

export function observed(
  call: CallProvider,
  of: Pick<ObservedCall, 'provider' | 'mode'>,
  onCall: CallObserver,
): CallProvider {
  return async (request) => {
    const startedAt = performance.now();
    let outcome: CallOutcome = 'unclear';
    try {
      const answer = await call(request);
      outcome = outcomeOf(answer);
      return answer;
    } finally {
      onCall({ ...of, outcome, seconds: (performance.now() - startedAt) / 1_000 });
    }
  };
}

function outcomeOf(answer: ProviderAnswer): CallOutcome {
  if (answer.kind === 'limited') return 'limited';
  if (answer.kind === 'unknown') return 'unclear';
  if (answer.status >= 500) return 'failed';
  return answer.status >= 400 ? 'refused' : 'ok';
}

const TOO_MANY_REQUESTS = 429;
const RETRY_AFTER_MS_MIN = 1_000;
const RETRY_AFTER_MS_MAX = 300_000;
/** The wait when the provider does not say. */
const RETRY_AFTER_MS_DEFAULT = 5_000;

function limited(retryAfter: string | string[] | undefined, who: string): Limited {
  const askedMs = typeof retryAfter === 'string' ? readRetryAfterMs(retryAfter) : null;
  return {
    kind: 'limited',
    reason: `${who} limits the rate of requests.`,
    retryAfterMs:
      askedMs === null
        ? RETRY_AFTER_MS_DEFAULT
        : Math.min(Math.max(askedMs, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX),
  };
}

/** Seconds or an HTTP date; null for anything else. */
function readRetryAfterMs(text: string): number | null {
  // eslint-disable-next-line no-restricted-syntax -- a time, not money
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = / GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : at - wallClockMs();
}

function readAnswer(status: number, text: string, who: string): JsonAnswer | Unknown {
  try {
    return { kind: 'answer', status, body: parse(text) };
  } catch {
    // It is not JSON, repeats keys or is nested beyond the stack: in every case not the provider's answer.
    return {
      kind: 'unknown',
      reason: `${statusSentence(status, who)} The answer is not valid JSON.`,
    };
  }
}

export function statusSentence(status: number, who = 'The provider'): string {
  return `${who} answered with status ${String(status)}.`;
}

function describeTrouble(
  error: unknown,
  deadline: AbortSignal,
  timeoutMs: number,
  who: string,
): string {
  if (deadline.aborted) return `${who} did not answer within ${String(timeoutMs)} ms.`;
  if (error instanceof AnswerTooLarge) return `${who} answered with too much data.`;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  const name = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'no code';
  return `The connection to ${who.replace('The', 'the')} failed (${name}).`;
}
