/**
 * One attempt at a delivery: resolve, vet, connect, secure, ask. Each part throws an AttemptFailure;
 * here it becomes the result that is stored.
 */
import { performance } from 'node:perf_hooks';
import type { Socket } from 'node:net';
import type { Mode } from '../domain/mode';
import { AttemptFailure } from './attempt-failure';
import type { AttemptResult, AttemptTiming, AttemptErrorCode } from './attempt-result';
import { dial, secure } from './connect';
import { type Answer, type Deadline, exchange } from './exchange';
import { signWebhook } from './sign';
import { findTarget, type TargetRules } from './target';
import { bareHost, portOf } from './url-policy';

export interface WebhookRequest {
  url: string;
  mode: Mode;
  eventType: string;
  eventId: string;
  /** The endpoint's secret as it was shown, `whsec_` included. */
  secret: string;
  body: Buffer;
}

export interface AttemptRules extends TargetRules {
  extraCa: readonly string[] | undefined;
  bodyMs: number;
}

const USER_AGENT = 'payments-gateway-webhooks/1';

export async function runAttempt(
  request: WebhookRequest,
  rules: AttemptRules,
  deadline: Deadline,
): Promise<AttemptResult> {
  const startedAt = new Date();
  const sinceStart = stopwatch();
  const timing: AttemptTiming = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
  const requestHeaders: Record<string, string> = {};
  const base = { startedAt, timing, requestHeaders };
  try {
    const { url, socket } = await connect(request, rules, deadline.signal, timing);
    Object.assign(requestHeaders, headersOf(request, url));
    noteFirstByte(socket, timing);
    const message = { url, headers: requestHeaders, body: request.body };
    const answer = await exchange(socket, message, deadline, rules.bodyMs);
    return { ...base, durationMs: sinceStart(), ...judge(answer) };
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    return { ...base, durationMs: sinceStart(), ...withoutAnswer(error) };
  }
}

async function connect(
  request: WebhookRequest,
  rules: AttemptRules,
  deadline: AbortSignal,
  timing: AttemptTiming,
): Promise<{ url: URL; socket: Socket }> {
  const sinceDns = stopwatch();
  const { url, addresses } = await findTarget(request.url, request.mode, rules, deadline);
  timing.dnsMs = sinceDns();
  const sinceConnect = stopwatch();
  const socket = await dial(addresses, portOf(url), rules.addresses[request.mode], deadline);
  timing.connectMs = sinceConnect();
  if (url.protocol === 'http:') return { url, socket };
  const sinceTls = stopwatch();
  const secured = await secure(socket, { host: bareHost(url), extraCa: rules.extraCa }, deadline);
  timing.tlsMs = sinceTls();
  return { url, socket: secured };
}

/** Time and signature are those of the attempt (decision H1). No merchant sets any header. */
function headersOf(request: WebhookRequest, url: URL): Record<string, string> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  return {
    Host: url.host,
    'User-Agent': USER_AGENT,
    'Content-Type': 'application/json',
    'Content-Length': String(request.body.length),
    'Accept-Encoding': 'identity',
    'X-Gateway-Event': request.eventType,
    'X-Gateway-Event-Id': request.eventId,
    'X-Gateway-Timestamp': String(timestampSeconds),
    'X-Gateway-Signature': signWebhook(request.secret, timestampSeconds, request.body),
  };
}

function noteFirstByte(socket: Socket, timing: AttemptTiming): void {
  const sinceReady = stopwatch();
  socket.once('readable', () => {
    // A connection that ends is readable too, without a byte.
    if (socket.readableLength > 0) timing.firstByteMs = sinceReady();
  });
}

type Judgement = Omit<AttemptResult, 'startedAt' | 'timing' | 'requestHeaders' | 'durationMs'>;

/** A 2xx succeeds whatever its body does (decision H3). */
function judge(answer: Answer): Judgement {
  const succeeded = answer.status >= 200 && answer.status < 300;
  const [errorCode, error] = succeeded ? [null, null] : statusFailure(answer.status);
  return {
    outcome: succeeded ? 'succeeded' : 'failed',
    status: answer.status,
    errorCode,
    error,
    responseHeaders: answer.headers,
    responseBody: answer.body,
    responseTruncated: answer.truncated,
  };
}

function statusFailure(status: number): [AttemptErrorCode, string] {
  const sentence = `The receiver answered with status ${status}; only 2xx counts as received.`;
  if (status < 400) return ['http_3xx', `${sentence} Redirects are not followed.`];
  if (status < 500) return ['http_4xx', sentence];
  if (status < 600) return ['http_5xx', sentence];
  return ['protocol_error', sentence];
}

function withoutAnswer({ code, message }: AttemptFailure): Judgement {
  return {
    outcome: 'failed',
    status: null,
    errorCode: code,
    error: message,
    responseHeaders: [],
    responseBody: Buffer.alloc(0),
    responseTruncated: false,
  };
}

/** Whole milliseconds from now on, by a clock that never steps back. */
function stopwatch(): () => number {
  const start = performance.now();
  return () => Math.round(performance.now() - start);
}
