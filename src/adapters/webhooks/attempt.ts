/**
 * One attempt at a webhook delivery: resolve the name, check the addresses, connect, secure, send.
 * Each part throws an AttemptFailure, which becomes the stored result here.
 */
import { createHmac } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Socket } from 'node:net';
import type { Mode } from '../../domain/mode';
import type { Signature } from '../../domain/webhook-endpoint';
import { traceHeaders } from '../../platform/lib/trace';
import { wallClockMs } from '../../platform/lib/wall-clock';
import {
  type AttemptErrorCode,
  AttemptFailure,
  type AttemptResult,
  type AttemptTiming,
} from './attempt-result';
import { dial, secure } from './connect';
import { type Deadline, exchange, type HttpResponse } from './exchange';
import { findTarget, type TargetRules } from './target';
import { bareHost, portOf } from './url-policy';
import { signWebhook } from '../../../clients/typescript/src/webhooks';

export interface WebhookRequest {
  url: string;
  mode: Mode;
  eventType: string;
  eventId: string;
  /** The endpoint's secret as shown to the merchant, including `whsec_`. */
  secret: string;
  signature: Signature;
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
    const response = await exchange(socket, message, deadline, rules.bodyMs);
    return { ...base, durationMs: sinceStart(), ...resultOf(response) };
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    return { ...base, durationMs: sinceStart(), ...resultWithoutResponse(error) };
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

/**
 * The headers of an attempt. Timestamp and signature are new for each attempt
 * (decisions/webhooks#webhook-bodies). Merchants cannot set headers; a trace that they began comes back only as
 * a well-formed `traceparent`.
 */
function headersOf(request: WebhookRequest, url: URL): Record<string, string> {
  const timestampSeconds = Math.floor(wallClockMs() / 1000);
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
    ...(request.signature === 'standard_webhooks'
      ? standardHeaders(request, timestampSeconds)
      : {}),
    ...traceHeaders(),
  };
}

/** Standard Webhooks: the key is what the secret encodes in base64, and the id is signed as well. */
function standardHeaders(
  { eventId, secret, body }: WebhookRequest,
  timestampSeconds: number,
): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${eventId}.${timestampSeconds}.`)
    .update(body)
    .digest('base64');
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': `v1,${signature}`,
  };
}

function noteFirstByte(socket: Socket, timing: AttemptTiming): void {
  const sinceReady = stopwatch();
  socket.once('readable', () => {
    // A closed connection is also readable, without any bytes.
    if (socket.readableLength > 0) timing.firstByteMs = sinceReady();
  });
}

type Outcome = Omit<AttemptResult, 'startedAt' | 'timing' | 'requestHeaders' | 'durationMs'>;

/** A 2xx succeeds whatever happens to its body (decisions/webhooks#webhook-attempts). */
function resultOf(response: HttpResponse): Outcome {
  const succeeded = response.status >= 200 && response.status < 300;
  const [errorCode, error] = succeeded ? [null, null] : statusFailure(response.status);
  return {
    outcome: succeeded ? 'succeeded' : 'failed',
    status: response.status,
    errorCode,
    error,
    responseHeaders: response.headers,
    responseBody: response.body,
    responseTruncated: response.truncated,
  };
}

function statusFailure(status: number): [AttemptErrorCode, string] {
  const sentence = `The receiver responded with status ${status}; only 2xx counts as received.`;
  if (status < 400) return ['http_3xx', `${sentence} Redirects are not followed.`];
  if (status < 500) return ['http_4xx', sentence];
  if (status < 600) return ['http_5xx', sentence];
  return ['protocol_error', sentence];
}

function resultWithoutResponse({ code, message }: AttemptFailure): Outcome {
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

/** Whole milliseconds since the call, by a monotonic clock. */
function stopwatch(): () => number {
  const start = performance.now();
  return () => Math.round(performance.now() - start);
}
