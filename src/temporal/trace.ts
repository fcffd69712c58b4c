/**
 * Carries a trace in the headers of Temporal's messages. Whoever starts a workflow puts it there, the
 * workflow passes it on (workflows/trace.ts), and its activities continue it.
 */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import { inTrace, presentTraceparent, TRACE_HEADER } from '../platform/lib/trace';

/** Every client that starts workflows has it. Without a trace it changes nothing. */
export const TRACE_OF_STARTS: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  startUpdateWithStart: (input, next) =>
    next({ ...input, workflowStartHeaders: withTrace(input.workflowStartHeaders) }),
};

/** Every worker has it. */
export const TRACE_OF_ACTIVITIES: ActivityInterceptors = {
  inbound: {
    execute: (input, next) => inTrace(traceIn(input.headers), () => next(input)),
  },
};

function withTrace(headers: Headers): Headers {
  const traceparent = presentTraceparent();
  if (traceparent === undefined) return headers;
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceparent) };
}

function traceIn(headers: Headers): unknown {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return null;
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch {
    // Whoever reaches Temporal can send any header, so no activity fails because of a trace.
    return null;
  }
}
