/**
 * Starts payout workflows and speaks with them. The workflow's id is the payout's id, so there is
 * never more than one; a run that was terminated may be followed by another, a completed one not.
 */
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { type Closed, type NoAnswer, translate } from './answers';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { Mode } from '../domain/mode';
import type { Amount } from '../domain/money';
import type { Payout } from '../domain/payout';
import { SIGNALS, TASK_QUEUES, UPDATES, WORKFLOWS } from '../../workflows/names';
import type { CancelOutcome, PayoutInput, ReserveOutcome } from '../../workflows/messages';

/** What a payout's workflow is started with, and what its page shows of it. */
export interface PayoutStart extends PayoutInput {
  accountId: string;
  mode: Mode;
  currency: string;
  amount: Amount;
}

export interface PayoutWorkflows {
  /** Starts the workflow and waits for its reservation. */
  reserve(start: PayoutStart, deadlineMs: number): Promise<ReserveOutcome | Closed | NoAnswer>;
  /** @param by names the merchant's request: the same one again gets the first outcome */
  cancel(
    start: PayoutStart,
    by: string,
    deadlineMs: number,
  ): Promise<CancelOutcome | Closed | NoAnswer>;
  /** Wakes the workflow, starting it when it is missing. */
  sendProviderUpdate(start: PayoutStart): Promise<{ kind: 'told' } | Closed | NoAnswer>;
  /** Starts the workflow unless it runs or has completed. */
  ensureRunning(start: PayoutStart): Promise<void>;
}

/** What starts the workflow of a payout that exists. */
export function startOf(payout: Payout): PayoutStart {
  return { ...payout, payoutId: payout.id };
}

export const MODE = defineSearchAttributeKey('Mode', 'KEYWORD');
export const CURRENCY = defineSearchAttributeKey('Currency', 'KEYWORD');
export const ACCOUNT_ID = defineSearchAttributeKey('AccountId', 'KEYWORD');

const SIGNAL_DEADLINE_MS = 3_000;

export function createPayoutWorkflows(client: Client): PayoutWorkflows {
  const execute = <Outcome>(
    name: string,
    updateId: string,
    args: unknown[],
    start: PayoutStart,
    deadlineMs: number,
  ): Promise<Outcome | Closed | NoAnswer> =>
    translate(() =>
      client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.executeUpdateWithStart<never, Outcome, unknown[]>(name, {
          updateId,
          args,
          startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOWS.payout, {
            ...startOptions(start),
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        } as never),
      ),
    );

  return {
    reserve: (start, deadlineMs) =>
      execute(UPDATES.reserve, `${start.payoutId}:reserve`, [], start, deadlineMs),

    cancel: (start, by, deadlineMs) => execute(UPDATES.cancel, by, [by], start, deadlineMs),

    sendProviderUpdate: (start) =>
      translate(async () => {
        await client.withDeadline(Date.now() + SIGNAL_DEADLINE_MS, () =>
          client.workflow.signalWithStart(WORKFLOWS.payout, {
            ...startOptions(start),
            signal: SIGNALS.providerUpdate,
          }),
        );
        return { kind: 'told' };
      }),

    ensureRunning: async (start) => {
      try {
        await client.workflow.start(WORKFLOWS.payout, {
          ...startOptions(start),
          workflowIdConflictPolicy: 'USE_EXISTING',
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
  };
}

/** Field by field: histories are readable by many, so nothing may slip in with a whole row. */
function startOptions(start: PayoutStart) {
  const { payoutId, provider, network, networkFee, accountId, mode, currency, amount } = start;
  return {
    workflowId: payoutId,
    taskQueue: TASK_QUEUES.payouts,
    args: [{ payoutId, provider, network, networkFee }] satisfies [PayoutInput],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    staticSummary: `Payout of ${amount} ${currency}, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: CURRENCY, value: currency },
      { key: ACCOUNT_ID, value: accountId },
    ],
  } satisfies Partial<WorkflowStartOptions>;
}
