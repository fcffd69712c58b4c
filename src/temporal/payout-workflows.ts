/**
 * Starts payout workflows and messages them. The row decides whether a payout needs a workflow, so a
 * completed one can be started again: a restored database can be older than Temporal. Only the first
 * reservation may not follow a completed workflow.
 */
import type { Client } from '@temporalio/client';
import type {
  CancelOutcome,
  DecideOutcome,
  PayoutInput,
  ReleaseOutcome,
  ReserveOutcome,
} from '../../workflows/messages';
import { SIGNALS, TASK_QUEUES, UPDATES, WORKFLOWS } from '../../workflows/names';
import type { Owner } from '../domain/mode';
import type { Amount } from '../domain/money';
import type { Payout } from '../domain/payout';
import { newId } from '../platform/lib/new-id';
import { createStarter, type StarterOptions, type StartOptions } from './client';
import { ACCOUNT_ID, CURRENCY, MODE } from './search-attributes';

/** A payout's workflow input, and what its page shows. */
export interface PayoutStart extends PayoutInput, Owner {
  currency: string;
  amount: Amount;
}

/** The start of an existing payout's workflow. */
export function payoutStart(payout: Payout): PayoutStart {
  return { ...payout, payoutId: payout.id };
}

export type PayoutWorkflows = ReturnType<typeof createPayoutWorkflows>;

export function createPayoutWorkflows(client: Client, options: StarterOptions = {}) {
  const starter = createStarter(client, WORKFLOWS.payout, options);
  return {
    /** Starts the workflow and waits for its reservation. */
    reserve: (start: PayoutStart, deadlineMs: number) =>
      starter.update<ReserveOutcome>(
        { ...startOptions(start), workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' },
        { name: UPDATES.reserve, id: `${start.payoutId}:reserve`, args: [], deadlineMs },
      ),
    /** @param by the id of the merchant's request: a repeated id returns the first outcome */
    cancel: (start: PayoutStart, by: string, deadlineMs: number) => {
      const update = { name: UPDATES.cancel, id: by, args: [by], deadlineMs };
      return starter.update<CancelOutcome>(startOptions(start), update);
    },
    /** Applies a stored decision of an operator; a repeated id returns the first outcome. */
    decide: (start: PayoutStart, decisionId: string, deadlineMs: number) => {
      const update = { name: UPDATES.decide, id: decisionId, args: [decisionId], deadlineMs };
      return starter.update<DecideOutcome>(startOptions(start), update);
    },
    /** Makes the workflow look at the payout's conditions; a repeated id returns the first outcome. */
    release: (start: PayoutStart, requestId: string, deadlineMs: number) => {
      const update = { name: UPDATES.release, id: requestId, args: [], deadlineMs };
      return starter.update<ReleaseOutcome>(startOptions(start), update);
    },
    /** Makes the workflow ask the provider; starts it if it is missing or has ended. */
    sendProviderUpdate: (start: PayoutStart) =>
      starter.signal(startOptions(start), SIGNALS.providerUpdate),
    /** Makes a workflow that is held or waits look again; starts it if it is missing. @throws without an answer */
    wake: async (start: PayoutStart) => {
      const sent = await starter.signal(startOptions(start), SIGNALS.wake);
      if (sent.kind === 'no_answer') throw sent.cause;
    },
    /** Starts the workflow of a row or of a recovered payout, for which nobody waits, unless it runs. */
    ensureRunning: (start: PayoutStart) =>
      starter.ensureRunning(
        { ...startOptions(start), taskQueue: TASK_QUEUES.batches },
        start.accountId,
      ),
  };
}

/**
 * Wakes the payouts that a lifted pause held. The worker does it, because there can be thousands.
 * @throws without an answer: the schedule `restart-missing` wakes them within 15 seconds
 */
export async function resumeHeldPayouts(client: Client): Promise<void> {
  // Each resume has its own run, because one that is under way may have read the rows already.
  await createStarter(client, WORKFLOWS.resumeHeld).ensureRunning({
    workflowId: `resume-held-${newId('request')}`,
    taskQueue: TASK_QUEUES.payouts,
    args: [],
    staticSummary: 'Submit the payouts that a pause held',
  });
}

/**
 * The input is copied field by field: histories are widely readable, so a whole row must not get into
 * them.
 */
function startOptions(start: PayoutStart): StartOptions {
  const { payoutId, accountId, mode, currency, amount } = start;
  return {
    workflowId: payoutId,
    taskQueue: TASK_QUEUES.payouts,
    args: [{ payoutId }] satisfies [PayoutInput],
    staticSummary: `Payout of ${amount} ${currency}, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: CURRENCY, value: currency },
      { key: ACCOUNT_ID, value: accountId },
    ],
  };
}
