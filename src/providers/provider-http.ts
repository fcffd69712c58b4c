/**
 * One HTTP call to a provider, from the adapters. Whatever happens comes back as a value: an
 * answer that is JSON, or trouble with a sentence that names no address, key or content. Nothing
 * is retried and no redirect is followed here, because only the caller knows what is safe twice.
 */
import { parse } from 'lossless-json';
import { Agent, request } from 'undici';

export type ProviderAnswer =
  /** Numbers in `body` are no JavaScript numbers (lossless-json), so none passes for an amount. */
  { kind: 'answer'; status: number; body: unknown } | { kind: 'trouble'; reason: string };

export interface ProviderCall {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Where less than the provider's usual time is to be had. */
  atMostMs?: number;
}

export type CallProvider = (call: ProviderCall) => Promise<ProviderAnswer>;

export const DEFAULT_TIMEOUT_MS = 8_000;
/** Shorter than the API waits (services/payments.ts), so that the error names the provider. */
export const OPENING_MS_MAX = 4_000;
/** A transfer is a few hundred bytes; more than this is not an answer to our question. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** Per provider address. Beyond it calls queue, and their deadline runs while they do. */
const CONNECTIONS = 100;

export function createProviderAgent(): Agent {
  return new Agent({ connections: CONNECTIONS, maxResponseSize: ANSWER_BYTES_MAX });
}

export function createProviderCaller(agent: Agent, usualMs: number): CallProvider {
  return async ({ url, atMostMs = usualMs, ...call }) => {
    const timeoutMs = Math.min(usualMs, atMostMs);
    // The signal, unlike undici's own timers, bounds the whole call: a slow drip cannot stretch it.
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(url, { ...call, dispatcher: agent, signal: deadline });
      return readAnswer(response.statusCode, await response.body.text());
    } catch (error) {
      return { kind: 'trouble', reason: describeTrouble(error, deadline, timeoutMs) };
    }
  };
}

function readAnswer(status: number, text: string): ProviderAnswer {
  try {
    return { kind: 'answer', status, body: parse(text) };
  } catch {
    // Not JSON, repeated keys, nested beyond the stack: in every case not the provider's answer.
    return { kind: 'trouble', reason: `${statusSentence(status)} The answer is not valid JSON.` };
  }
}

export function statusSentence(status: number): string {
  return `The provider answered with status ${String(status)}.`;
}

function describeTrouble(error: unknown, deadline: AbortSignal, timeoutMs: number): string {
  if (deadline.aborted) return `The provider did not answer within ${String(timeoutMs)} ms.`;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'The provider answered with too much data.';
  const name = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'no code';
  return `The connection to the provider failed (${name}).`;
}
