/**
 * Starts the workflows of batches and messages them. The row decides whether a batch needs a workflow,
 * so a completed one can be started again; only the first reservation may not follow one.
 */
import type { Client } from '@temporalio/client';
import type {
  BatchDecideOutcome,
  LeaveOutOutcome,
  PayoutBatchInput,
  ReserveOutcome,
  StopOutcome,
} from '../../workflows/messages';
import { SIGNALS, TASK_QUEUES, UPDATES, WORKFLOWS } from '../../workflows/names';
import type { Owner } from '../domain/mode';
import { createStarter, type StarterOptions, type StartOptions } from './client';
import { ACCOUNT_ID, MODE } from './search-attributes';

export interface PayoutBatchStart extends Owner {
  id: string;
  rowCount: number;
}

export type PayoutBatchWorkflows = ReturnType<typeof createPayoutBatchWorkflows>;

export function createPayoutBatchWorkflows(client: Client, options: StarterOptions = {}) {
  const starter = createStarter(client, WORKFLOWS.payoutBatch, options);
  return {
    /** Starts the workflow and waits for its reservation. */
    reserve: (start: PayoutBatchStart, deadlineMs: number) =>
      starter.update<ReserveOutcome>(
        { ...startOptions(start), workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' },
        { name: UPDATES.reserve, id: `${start.id}:reserve`, args: [], deadlineMs },
      ),
    /** @param by the id of the merchant's request: a repeated id returns the first outcome */
    stop: (start: PayoutBatchStart, by: string, deadlineMs: number) => {
      const update = { name: UPDATES.stop, id: by, args: [by], deadlineMs };
      return starter.update<StopOutcome>(startOptions(start), update);
    },
    /** @param by as with `stop` @param rowNumbers counted from 1 */
    leaveOut: (
      start: PayoutBatchStart,
      by: string,
      rowNumbers: readonly number[],
      deadlineMs: number,
    ) => {
      const update = { name: UPDATES.leaveOut, id: by, args: [by, rowNumbers], deadlineMs };
      return starter.update<LeaveOutOutcome>(startOptions(start), update);
    },
    /** Applies a stored decision of an operator; a repeated id returns the first outcome. */
    decide: (start: PayoutBatchStart, decisionId: string, deadlineMs: number) => {
      const update = { name: UPDATES.decide, id: decisionId, args: [decisionId], deadlineMs };
      return starter.update<BatchDecideOutcome>(startOptions(start), update);
    },
    /** An operator's decision by signal. */
    signal: (
      start: PayoutBatchStart,
      kind: 'approve' | 'reject' | 'stop',
      input: { by: string; reason?: string; manifest?: string },
    ) => starter.signal(startOptions(start), SIGNALS[kind], input),
    /** Makes it look for the second person's approval; starts it if it is missing. @throws without an answer */
    wake: async (start: PayoutBatchStart) => {
      const sent = await starter.signal(startOptions(start), SIGNALS.wake);
      if (sent.kind === 'no_answer') throw sent.cause;
    },
    /** Starts the workflow unless it runs. */
    ensureRunning: (start: PayoutBatchStart) =>
      starter.ensureRunning(startOptions(start), start.accountId),
  };
}

function startOptions({ id, accountId, mode, rowCount }: PayoutBatchStart): StartOptions {
  return {
    workflowId: id,
    taskQueue: TASK_QUEUES.payouts,
    args: [{ batchId: id }] satisfies [PayoutBatchInput],
    staticSummary: `Batch of ${rowCount} payouts, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: ACCOUNT_ID, value: accountId },
    ],
  };
}
