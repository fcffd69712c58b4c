/**
 * Passes the trace of a run's start on to its activities and to its next run, unchanged
 * (src/temporal/trace.ts). Headers are no part of what a replay compares.
 */
import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';

const NAME = 'traceparent';

export function interceptors(): WorkflowInterceptors {
  let trace: Headers = {};
  const traced = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  return {
    inbound: [
      {
        execute: (input, next) => {
          const payload = input.headers[NAME];
          if (payload !== undefined) trace = { [NAME]: payload };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(traced(input)),
        scheduleLocalActivity: (input, next) => next(traced(input)),
        continueAsNew: (input, next) => next(traced(input)),
      },
    ],
  };
}
