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
import { createStarter, type StarterOptions, type StartOptions } from './client';
import { ACCOUNT_ID, CURRENCY, MODE } from './search-attributes';

/** A payment's workflow input, and what its page shows. */
export interface PaymentStart extends PaymentInput {
  accountId: string;
  currency: string;
  amount: Amount;
}

/** The start of an existing payment's workflow. */
export function paymentStart(payment: Payment): PaymentStart {
  return { ...payment, paymentId: payment.id };
}

export type PaymentWorkflows = ReturnType<typeof createPaymentWorkflows>;

export function createPaymentWorkflows(client: Client, options: StarterOptions = {}) {
  const starter = createStarter(client, WORKFLOWS.payment, options);
  return {
    /** Starts the workflow and waits for its checkout. */
    open: (start: PaymentStart, deadlineMs: number) => {
      const update = { name: UPDATES.open, id: `${start.paymentId}:open`, args: [], deadlineMs };
      return starter.update<OpenOutcome>(startOptions(start), update);
    },
    /** Asks the provider now. @param by the id of the merchant's request */
    verify: (start: PaymentStart, by: string, deadlineMs: number) => {
      const update = { name: UPDATES.verify, id: by, args: [], deadlineMs };
      return starter.update<VerifyOutcome>(startOptions(start), update);
    },
    /**
     * Asks the provider to close the checkout; the row shows whether it did.
     * @param by the id of the merchant's request: a repeated id is one decision
     */
    cancel: (start: PaymentStart, by: string, deadlineMs: number) => {
      const update = { name: UPDATES.cancel, id: by, args: [by], deadlineMs };
      return starter.update<VerifyOutcome>(startOptions(start), update);
    },
    /** Reserves the money of the claimed refund. */
    refund: (start: PaymentStart, refundId: string, deadlineMs: number) => {
      const update = { name: UPDATES.refund, id: refundId, args: [refundId], deadlineMs };
      return starter.update<ReserveOutcome>(startOptions(start), update);
    },
    /** Makes the payout of a refund whose address was named. @param by the id of the request */
    payRefund: (start: PaymentStart, refundId: string, by: string, deadlineMs: number) => {
      const update = { name: UPDATES.payRefund, id: by, args: [refundId], deadlineMs };
      return starter.update<ReserveOutcome>(startOptions(start), update);
    },
    /** Returns the money of a refund that waits for a person or an address; false: it waits no more. */
    withdraw: (start: PaymentStart, refundId: string, by: string, deadlineMs: number) => {
      const update = { name: UPDATES.withdraw, id: by, args: [refundId], deadlineMs };
      return starter.update<boolean>(startOptions(start), update);
    },
    /** Makes the workflow ask the provider; starts it if it is missing or has ended. */
    sendProviderUpdate: (start: PaymentStart) =>
      starter.signal(startOptions(start), SIGNALS.providerUpdate),
    /** Signals an operator's decision; starts the workflow if it is missing or has ended. */
    decide: (start: PaymentStart, { kind, ...input }: PaymentDecision) =>
      starter.signal(startOptions(start), SIGNALS[kind], input),
    /** Starts the workflow unless it runs. */
    ensureRunning: (start: PaymentStart) =>
      starter.ensureRunning(startOptions(start), start.accountId),
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
