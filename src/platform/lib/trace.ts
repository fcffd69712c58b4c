/**
 * The trace that the present work belongs to (W3C Trace Context). The gateway passes its header on, from a
 * request through workflows and activities to providers and webhooks, and writes its id to the log. It
 * measures no spans of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** The header of HTTP requests and of Temporal's messages. */
export const TRACE_HEADER = 'traceparent';

/** The parts are version, trace, parent and flags. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

interface Trace {
  traceparent: string;
  id: string;
}

const present = new AsyncLocalStorage<Trace>();

/** Runs the work in the trace that somebody sent. Anything but a valid trace has no effect. */
export function inTrace<T>(traceparent: unknown, work: () => T): T {
  const trace = readTrace(traceparent);
  return trace === null ? work() : present.run(trace, work);
}

/** Runs the work in the trace that was sent, or in a new one. */
export function inSomeTrace<T>(traceparent: unknown, work: () => T): T {
  return present.run(readTrace(traceparent) ?? newTrace(), work);
}

function readTrace(traceparent: unknown): Trace | null {
  if (typeof traceparent !== 'string') return null;
  const id = TRACEPARENT.exec(traceparent)?.[1];
  return id === undefined ? null : { traceparent, id };
}

/** A new trace, which is not sampled: nobody has recorded a part of it. */
function newTrace(): Trace {
  const id = randomBytes(16).toString('hex');
  return { traceparent: `00-${id}-${randomBytes(8).toString('hex')}-00`, id };
}

/** The `traceparent` of the work under way; undefined without a trace. */
export function presentTraceparent(): string | undefined {
  return present.getStore()?.traceparent;
}

/** The headers of an outgoing request; none without a trace. */
export function traceHeaders(): Record<string, string> {
  const traceparent = presentTraceparent();
  return traceparent === undefined ? {} : { [TRACE_HEADER]: traceparent };
}

/** The members of a log line. */
export function traceFields(): { trace_id?: string } {
  const trace = present.getStore();
  return trace === undefined ? {} : { trace_id: trace.id };
}
