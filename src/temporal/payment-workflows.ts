/** Starts payment workflows and speaks with them. The workflow's id is the payment's id. */
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { OpenOutcome, PaymentDecision, PaymentInput } from '../../workflows/messages';
import { SIGNALS, TASK_QUEUES, UPDATES, WORKFLOWS } from '../../workflows/names';
import type { Mode } from '../domain/mode';
import type { Amount } from '../domain/money';
import type { Payment } from '../domain/payment';
import { type Closed, type NoAnswer, translate } from './answers';
import { ACCOUNT_ID, CURRENCY, MODE } from './payout-workflows';

/** What a payment's workflow is started with, and what its page shows of it. */
export interface PaymentStart extends PaymentInput {
  accountId: string;
  mode: Mode;
  currency: string;
  amount: Amount;
}

export interface PaymentWorkflows {
  /** Starts the workflow and waits for its checkout. */
  open(start: PaymentStart, deadlineMs: number): Promise<OpenOutcome | Closed | NoAnswer>;
  /** Looks at the provider now. */
  verify(
    start: PaymentStart,
    by: string,
    deadlineMs: number,
  ): Promise<{ kind: 'verified'; answered: boolean } | Closed | NoAnswer>;
  /** Wakes the workflow; starts one when it is missing or has ended: money may come late. */
  sendProviderUpdate(start: PaymentStart): Promise<{ kind: 'told' } | Closed | NoAnswer>;
  /** Signals what an operator decided; starts the workflow when it is missing or has ended. */
  decide(
    start: PaymentStart,
    decision: PaymentDecision,
  ): Promise<{ kind: 'told' } | Closed | NoAnswer>;
  /** Starts the workflow unless it runs. */
  ensureRunning(start: PaymentStart): Promise<void>;
}

const SIGNAL_DEADLINE_MS = 3_000;

export function startOfPayment(payment: Payment): PaymentStart {
  return { ...payment, paymentId: payment.id };
}

export function createPaymentWorkflows(client: Client): PaymentWorkflows {
  const execute = <Outcome>(
    name: string,
    updateId: string,
    start: PaymentStart,
    deadlineMs: number,
  ): Promise<Outcome> =>
    client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.executeUpdateWithStart<never, Outcome, unknown[]>(name, {
        updateId,
        args: [],
        startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOWS.payment, {
          ...startOptions(start),
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      } as never),
    );

  const signal = (
    start: PaymentStart,
    name: string,
    signalArgs: unknown[],
  ): Promise<{ kind: 'told' } | Closed | NoAnswer> =>
    translate(async () => {
      await client.withDeadline(Date.now() + SIGNAL_DEADLINE_MS, () =>
        client.workflow.signalWithStart(WORKFLOWS.payment, {
          ...startOptions(start),
          signal: name,
          signalArgs,
        }),
      );
      return { kind: 'told' };
    });

  return {
    open: (start, deadlineMs) =>
      translate(() =>
        execute<OpenOutcome>(UPDATES.open, `${start.paymentId}:open`, start, deadlineMs),
      ),

    verify: (start, by, deadlineMs) =>
      translate(async () => {
        const { answered } = await execute<{ answered: boolean }>(
          UPDATES.verify,
          by,
          start,
          deadlineMs,
        );
        return { kind: 'verified', answered };
      }),

    sendProviderUpdate: (start) => signal(start, SIGNALS.providerUpdate, []),

    decide: (start, { kind, ...input }) => signal(start, SIGNALS[kind], [input]),

    ensureRunning: async (start) => {
      await client.workflow.start(WORKFLOWS.payment, {
        ...startOptions(start),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
    },
  };
}

/** Field by field: histories are readable by many, so nothing may slip in with a whole row. */
function startOptions(start: PaymentStart) {
  const { paymentId, provider, network, accountId, mode, currency, amount } = start;
  return {
    workflowId: paymentId,
    taskQueue: TASK_QUEUES.payments,
    args: [{ paymentId, provider, network }] satisfies [PaymentInput],
    staticSummary: `Payment of ${amount} ${currency}, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: CURRENCY, value: currency },
      { key: ACCOUNT_ID, value: accountId },
    ],
  };
}
