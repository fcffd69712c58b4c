/**
 * Starts payment workflows and messages them. A completed workflow can be started again: money can
 * arrive late, and an operator can refund.
 */
import type { Client } from '@temporalio/client';
import type {
  OpenOutcome,
  PaymentDecision,
  PaymentInput,
  ReserveOutcome,
  VerifyOutcome,
} from '../../workflows/messages';
import { SIGNALS, TASK_QUEUES, UPDATES, WORKFLOWS } from '../../workflows/names';
import type { Amount } from '../domain/money';
import type { Payment } from '../domain/payment';
import {
  type Closed,
  createStarter,
  type NoAnswer,
  type Sent,
  type StarterOptions,
  type StartOptions,
} from './client';
import { ACCOUNT_ID, CURRENCY, MODE } from './search-attributes';

/** A payment's workflow input, and what its page shows. */
export interface PaymentStart extends PaymentInput {
  accountId: string;
  currency: string;
  amount: Amount;
}

export interface PaymentWorkflows {
  /** Starts the workflow and waits for its checkout. */
  open(start: PaymentStart, deadlineMs: number): Promise<OpenOutcome | Closed | NoAnswer>;
  /** Asks the provider now. @param by the id of the merchant's request */
  verify(
    start: PaymentStart,
    by: string,
    deadlineMs: number,
  ): Promise<VerifyOutcome | Closed | NoAnswer>;
  /**
   * Asks the provider to close the checkout; the row shows whether it did.
   * @param by the id of the merchant's request: a repeated id is one decision
   */
  cancel(
    start: PaymentStart,
    by: string,
    deadlineMs: number,
  ): Promise<VerifyOutcome | Closed | NoAnswer>;
  /** Reserves the money of the claimed refund. */
  refund(
    start: PaymentStart,
    refundId: string,
    deadlineMs: number,
  ): Promise<ReserveOutcome | Closed | NoAnswer>;
  /** Returns the money of a refund that waits for a second person; false: it does not wait any more. */
  withdraw(
    start: PaymentStart,
    refundId: string,
    by: string,
    deadlineMs: number,
  ): Promise<boolean | Closed | NoAnswer>;
  /** Makes the workflow ask the provider; starts it if it is missing or has ended. */
  sendProviderUpdate(start: PaymentStart): Promise<Sent | Closed | NoAnswer>;
  /** Signals an operator's decision; starts the workflow if it is missing or has ended. */
  decide(start: PaymentStart, decision: PaymentDecision): Promise<Sent | Closed | NoAnswer>;
  /** Starts the workflow unless it runs. */
  ensureRunning(start: PaymentStart): Promise<void>;
}

/** The start of an existing payment's workflow. */
export function paymentStart(payment: Payment): PaymentStart {
  return { ...payment, paymentId: payment.id };
}

export function createPaymentWorkflows(
  client: Client,
  options: StarterOptions = {},
): PaymentWorkflows {
  const starter = createStarter(client, WORKFLOWS.payment, options);
  return {
    open: (start, deadlineMs) => {
      const id = `${start.paymentId}:open`;
      return starter.update(startOptions(start), { name: UPDATES.open, id, args: [], deadlineMs });
    },
    verify: (start, by, deadlineMs) =>
      starter.update(startOptions(start), { name: UPDATES.verify, id: by, args: [], deadlineMs }),
    cancel: (start, by, deadlineMs) =>
      starter.update(startOptions(start), { name: UPDATES.cancel, id: by, args: [by], deadlineMs }),
    refund: (start, refundId, deadlineMs) =>
      starter.update(startOptions(start), {
        name: UPDATES.refund,
        id: refundId,
        args: [refundId],
        deadlineMs,
      }),
    withdraw: (start, refundId, by, deadlineMs) =>
      starter.update(startOptions(start), {
        name: UPDATES.withdraw,
        id: by,
        args: [refundId],
        deadlineMs,
      }),
    sendProviderUpdate: (start) => starter.signal(startOptions(start), SIGNALS.providerUpdate),
    decide: (start, { kind, ...input }) =>
      starter.signal(startOptions(start), SIGNALS[kind], input),
    ensureRunning: (start) => starter.ensureRunning(startOptions(start)),
  };
}

/**
 * The input is copied field by field: histories are widely readable, so a whole row must not get into
 * them.
 */
function startOptions(start: PaymentStart): StartOptions {
  const { paymentId, provider, accountId, mode, currency, amount } = start;
  return {
    workflowId: paymentId,
    taskQueue: TASK_QUEUES.payments,
    args: [{ paymentId, provider, mode }] satisfies [PaymentInput],
    staticSummary: `Payment of ${amount} ${currency}, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: CURRENCY, value: currency },
      { key: ACCOUNT_ID, value: accountId },
    ],
  };
}
