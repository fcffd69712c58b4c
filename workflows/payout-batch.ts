/**
 * One batch of payouts, from the reservation of all rows to the last row's end. It waits for the
 * decision, releases the rows a few at a time, and closes the batch. Each row is a payout with a
 * workflow of its own. The database's guarded changes decide; the workflow keeps the hash of the
 * manifest that was approved, so that changed rows are not sent.
 *
 * Started by features/payout-batches (update-with-start `reserve`) and, when it is missing, by
 * restart-missing or a stop.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { isId } from '../src/domain/ids';
import {
  BATCH_PACE_MS,
  isFinalPayoutBatch,
  LEFT_OUT_AT_ONCE_MAX,
  nextBatchPaceMs,
} from '../src/domain/payout-batch';
import { activities, TRANSACTION } from './activities';
import type {
  BatchDecideOutcome,
  LeaveOutOutcome,
  PayoutBatchDecision,
  PayoutBatchInput,
  PayoutBatchState,
  ReserveOutcome,
  StopOutcome,
} from './messages';
import { TASK_QUEUES, UPDATES } from './names';
import { isName, NAME_LENGTH_MAX } from './operator-input';
import type { Timer } from './operator-page';
import { PayoutBatchPage } from './payout-batch-page';

/** Thousands of rows take seconds. Without a heartbeat the worker is dead, and another one goes on. */
const MANY_ROWS = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '500 ms', maximumInterval: '10 seconds' },
} as const;

const { reservePayoutBatch } = activities<'reservePayoutBatch'>({
  ...MANY_ROWS,
  summary: 'Reserve the funds of all rows',
});
const { advancePayoutBatch } = activities<'advancePayoutBatch'>({
  ...MANY_ROWS,
  taskQueue: TASK_QUEUES.batches,
  summary: 'Release the next rows',
});
const { approvePayoutBatch } = activities<'approvePayoutBatch'>({
  ...TRANSACTION,
  summary: 'Approve the batch',
});
const { checkSecondPerson } = activities<'checkSecondPerson'>({
  ...TRANSACTION,
  summary: 'Look for the second person',
});
const { endPayoutBatch } = activities<'endPayoutBatch'>({
  ...TRANSACTION,
  summary: 'End the batch early',
});
const { leaveOutOfPayoutBatch } = activities<'leaveOutOfPayoutBatch'>({
  ...TRANSACTION,
  summary: 'Leave rows out',
});
const { decidePayoutBatch } = activities<'decidePayoutBatch'>({
  ...TRANSACTION,
  summary: 'Apply the decision of an operator',
});

const reserveUpdate = defineUpdate<ReserveOutcome>(UPDATES.reserve);
/** The merchant's stop; `by` is the id of the request. */
const stopUpdate = defineUpdate<StopOutcome, [by: string]>(UPDATES.stop);
/** The merchant leaves rows out; `by` is the id of the request. */
const leaveOutUpdate = defineUpdate<LeaveOutOutcome, [by: string, rowNumbers: number[]]>(
  UPDATES.leaveOut,
);
/** A decision that the console has stored; its id is the only input, so nobody can claim a name. */
const decideUpdate = defineUpdate<BatchDecideOutcome, [decisionId: string]>(UPDATES.decide);

/** The number of rows in each state; null before the reservation. */
const progressQuery = defineQuery<PayoutBatchState['progress'] | null>('progress');

/** @returns the final status, or why no batch was created */
export async function payoutBatchWorkflow(input: PayoutBatchInput): Promise<string> {
  const page = new PayoutBatchPage(input.batchId);
  let reserved: ReserveOutcome | null = null;
  const outcome = async (): Promise<ReserveOutcome> => {
    await CancellationScope.nonCancellable(() => condition(() => reserved !== null));
    return reserved ?? { kind: 'abandoned' };
  };
  const whenReserved = async (): Promise<void> => {
    if ((await outcome()).kind !== 'reserved') {
      throw ApplicationFailure.nonRetryable('The batch does not exist.');
    }
  };
  setHandler(progressQuery, () => page.known?.progress ?? null);
  setHandler(reserveUpdate, outcome);
  setHandler(
    stopUpdate,
    async (by: string): Promise<StopOutcome> => {
      await whenReserved();
      return stop(input.batchId, page, by);
    },
    { validator: checkCaller },
  );
  setHandler(
    leaveOutUpdate,
    async (by: string, rowNumbers: number[]): Promise<LeaveOutOutcome> => {
      await whenReserved();
      return leaveOut(input.batchId, page, by, rowNumbers);
    },
    { validator: checkLeaveOut },
  );
  setHandler(
    decideUpdate,
    async (decisionId: string): Promise<BatchDecideOutcome> => {
      await whenReserved();
      return decide(input.batchId, page, decisionId);
    },
    { validator: checkDecisionId },
  );

  // Temporal's cancellation request must not strand the funds.
  return CancellationScope.nonCancellable(async () => {
    const result = await reservePayoutBatch({ batchId: input.batchId });
    if (result.kind === 'reserved') {
      page.linkTo(result.consolePage);
      page.take(result.state);
    }
    reserved = result.kind === 'reserved' ? { kind: 'reserved' } : result;
    const end = result.kind === 'reserved' ? await run(input, page) : result.kind;
    await condition(allHandlersFinished);
    return end;
  });
}

function checkCaller(by: unknown): void {
  if (isName(by)) return;
  throw ApplicationFailure.nonRetryable(
    `\`stop\` requires one string of at most ${NAME_LENGTH_MAX} characters: the id or name of the caller.`,
  );
}

function checkLeaveOut(by: unknown, rowNumbers: unknown): void {
  const isList = Array.isArray(rowNumbers) && rowNumbers.length <= LEFT_OUT_AT_ONCE_MAX;
  if (isName(by) && isList && rowNumbers.every((row) => Number.isInteger(row))) return;
  throw ApplicationFailure.nonRetryable(
    '`leaveOut` requires the id or name of the caller, and a list of row numbers.',
  );
}

function checkDecisionId(decisionId: unknown): void {
  if (typeof decisionId === 'string' && isId('decision', decisionId)) return;
  throw ApplicationFailure.nonRetryable(
    '`decide` requires the id of a decision that was made in the console.',
  );
}

async function stop(batchId: string, page: PayoutBatchPage, by: string): Promise<StopOutcome> {
  const { applied, state } = await CancellationScope.nonCancellable(() =>
    endPayoutBatch(batchId, 'stop', by, null),
  );
  page.take(state);
  return applied || state.ending === 'stop'
    ? { kind: 'stopped' }
    : { kind: 'invalid_state', status: state.status };
}

async function leaveOut(
  batchId: string,
  page: PayoutBatchPage,
  by: string,
  rowNumbers: readonly number[],
): Promise<LeaveOutOutcome> {
  const { outcome, state } = await CancellationScope.nonCancellable(() =>
    leaveOutOfPayoutBatch(batchId, by, rowNumbers),
  );
  page.take(state);
  return { kind: outcome };
}

async function decide(
  batchId: string,
  page: PayoutBatchPage,
  decisionId: string,
): Promise<BatchDecideOutcome> {
  const { outcome, state } = await CancellationScope.nonCancellable(() =>
    decidePayoutBatch(batchId, decisionId),
  );
  page.take(state);
  return { kind: outcome };
}

async function run(input: PayoutBatchInput, page: PayoutBatchPage): Promise<string> {
  // The hash that was approved, as this workflow's history has it.
  let approved = input.approved ?? null;
  let paceMs = BATCH_PACE_MS.least;
  while (!isFinalPayoutBatch(page.state.status)) {
    if (workflowInfo().continueAsNewSuggested && page.isIdle()) {
      await condition(allHandlersFinished);
      if (page.isIdle()) await continueRun(approved === null ? input : { ...input, approved });
    }
    const { status, ending } = page.state;
    if (ending === null && status !== 'processing') {
      await awaitDecision(input.batchId, page);
      continue;
    }
    if (status === 'processing') approved ??= page.state.manifestSha256;
    const before = page.state.progress;
    page.take(await advancePayoutBatch(input.batchId, approved));
    if (isFinalPayoutBatch(page.state.status)) break;
    const after = page.state.progress;
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    paceMs = nextBatchPaceMs(paceMs, isSame, after.waiting > 0);
    await page.waitForDecision({ ms: paceMs, summary: 'Next rows' });
    await stopIfAsked(input.batchId, page);
  }
  return page.state.status;
}

async function awaitDecision(batchId: string, page: PayoutBatchPage): Promise<void> {
  const { secondPersonInMs, status, manifestSha256 } = page.state;
  await page.waitForDecision(timerOf(page.state));
  if (page.state.status !== status || page.state.ending !== null) return;
  const decision = page.takeDecision();
  if (decision !== null && decision.kind !== 'approve') {
    await end(batchId, page, decision);
    return;
  }
  if (secondPersonInMs !== undefined) {
    page.take(await checkSecondPerson(batchId));
    if (decision === null) return;
  }
  const { applied, state, instead } = await approvePayoutBatch(
    batchId,
    decision?.by ?? null,
    decision?.manifestSha256 ?? manifestSha256,
    decision === null ? undefined : 'signal',
  );
  page.take(state);
  if (applied || decision === null) return;
  if (state.secondPersonInMs !== undefined) {
    page.remarkUnchanged(decision, 'another person of the merchant must approve this batch first');
  } else if (state.status === 'under_review') {
    page.remarkUnchanged(decision, instead ?? 'this batch requires the approval of two operators');
  }
}

function timerOf({ secondPersonInMs, autoApproveInMs }: PayoutBatchState): Timer | undefined {
  if (secondPersonInMs !== undefined) {
    return { ms: secondPersonInMs, summary: 'Time for the second person' };
  }
  if (autoApproveInMs === null) return undefined;
  return { ms: autoApproveInMs, summary: 'Automatic approval' };
}

async function stopIfAsked(batchId: string, page: PayoutBatchPage): Promise<void> {
  const decision = page.takeDecision();
  if (decision?.kind === 'stop') await end(batchId, page, decision);
}

async function end(
  batchId: string,
  page: PayoutBatchPage,
  { kind, by, reason }: PayoutBatchDecision,
): Promise<void> {
  const ending = kind === 'reject' ? 'reject' : 'stop';
  page.take((await endPayoutBatch(batchId, ending, by, reason, 'signal')).state);
}

async function continueRun(input: PayoutBatchInput): Promise<void> {
  await continueAsNew<(input: PayoutBatchInput) => Promise<string>>(input);
}
