/** What the workflow of an object did lately, from its history, for people: no payload is read but the summaries. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { wallClockMs } from '../platform/lib/wall-clock';

export interface WorkflowStep {
  at: Date;
  title: string;
  /** How often it was done in a row. */
  times: number;
  /** Why it failed; null if it did not. */
  failure: string | null;
}

/** The newest events of the last run. */
const EVENTS_MAX = 100;

type Reverse = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>;
type HistoryEvent = NonNullable<NonNullable<Reverse['history']>['events']>[number];

/** @returns newest first; null if Temporal did not answer in time */
export async function readSteps(
  client: Client,
  workflowId: string,
  deadlineMs: number,
): Promise<WorkflowStep[] | null> {
  try {
    const { history } = await client.withDeadline(wallClockMs() + deadlineMs, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: { workflowId },
        maximumPageSize: EVENTS_MAX,
      }),
    );
    return stepsOf(history?.events ?? []);
  } catch (error) {
    const isMissing =
      error instanceof WorkflowNotFoundError ||
      (error instanceof Error && 'code' in error && error.code === GRPC_NOT_FOUND);
    return isMissing ? [] : null;
  }
}

const GRPC_NOT_FOUND = 5;

/** @param events newest first */
export function stepsOf(events: readonly HistoryEvent[]): WorkflowStep[] {
  const steps: WorkflowStep[] = [];
  for (const event of events) {
    const step = stepOf(event);
    if (step === null) continue;
    const newer = steps.at(-1);
    const isSame = newer?.title === step.title;
    // A call without a quick answer is handed to a regular activity, which has the same summary.
    if (isSame && newer.at.getTime() === step.at.getTime()) continue;
    if (isSame && newer.failure === step.failure) newer.times += 1;
    else steps.push(step);
  }
  return steps;
}

function stepOf(event: HistoryEvent): WorkflowStep | null {
  const title = titleOf(event);
  if (title === null) return null;
  const { seconds, nanos } = event.eventTime ?? {};
  const ms = (seconds?.toNumber() ?? 0) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
  return { at: new Date(ms), title, times: 1, failure: failureOf(event) };
}

/** Those that operators and providers send every day; the others keep their names, which the runbook uses. */
const SIGNAL_TITLES: Record<string, string> = {
  approve: 'An operator’s approval arrived',
  reject: 'An operator’s rejection arrived',
  providerUpdate: 'The provider reported a change',
};

function titleOf(event: HistoryEvent): string | null {
  const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
  if (signal != null) return SIGNAL_TITLES[signal] ?? `Received the signal ${signal}`;
  if (event.activityTaskFailedEventAttributes != null) return 'An attempt failed';
  if (event.activityTaskTimedOutEventAttributes != null) return 'An attempt had no answer in time';
  if (event.workflowTaskFailedEventAttributes != null) return 'A step of the workflow failed';
  if (event.workflowExecutionTerminatedEventAttributes != null) return 'Workflow terminated';
  if (event.workflowExecutionFailedEventAttributes != null) return 'Workflow failed';
  if (event.workflowExecutionCompletedEventAttributes != null) return 'Workflow completed';
  if (event.workflowExecutionStartedEventAttributes != null) return 'Workflow started';
  // A timer says only that it waits.
  const timer = event.timerStartedEventAttributes ?? event.timerCanceledEventAttributes;
  if (timer != null) return null;
  const summary = event.userMetadata?.summary?.data;
  if (summary == null) return null;
  const text: unknown = JSON.parse(Buffer.from(summary).toString('utf8'));
  return typeof text === 'string' ? text : null;
}

function failureOf(event: HistoryEvent): string | null {
  const failure =
    event.activityTaskFailedEventAttributes?.failure ??
    event.activityTaskTimedOutEventAttributes?.failure ??
    event.workflowTaskFailedEventAttributes?.failure ??
    event.workflowExecutionFailedEventAttributes?.failure ??
    event.markerRecordedEventAttributes?.failure;
  return failure?.cause?.message ?? failure?.message ?? null;
}
