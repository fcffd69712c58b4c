/** `admin payments`. */
import { randomUUID } from 'node:crypto';
import { type Command, Option } from '@commander-js/extra-typings';
import type { Client } from '@temporalio/client';
import type { Db } from '../db/transaction';
import type { PaymentDecisionKind } from '../domain/payment';
import {
  decideAboutPayment,
  lookAtPayment,
  type PaymentDecisionResult,
  type PaymentsDeps,
} from '../services/admin/payments';
import { COMMAND } from '../temporal/client';
import { createPaymentWorkflows } from '../temporal/payment-workflows';
import type { Context, Run } from './context';
import { addLost } from './lost';
import { addNoun, changeVerb, readVerb, reasonedVerb, requireId, text } from './options';
import { unclear } from './errors';

const WHERE = 'Add the id of the payment (pay_…).';
const THE_PAYMENT = new Option('--id <PAY_ID>', 'the payment').argParser(text);
const OPERATION_ID = new Option(
  '--operation-id <TEXT>',
  'a name of your own for the decision (default: a new one)',
).argParser(text);

interface DecisionOptions {
  id?: string | undefined;
  operationId?: string | undefined;
  amount?: string | undefined;
}

export function addPayments(admin: Command, run: Run): void {
  const payments = addNoun(
    admin,
    'payments',
    'Payments: provider status, compliance holds, cancellation, refunds, and what a restore lost.',
  );
  readVerb(payments, 'look', {
    summary: 'Ask the provider for the status of a payment now',
    notes: "The provider's answer is applied as usual, also after the workflow has completed.",
    examples: ['payments look pay_…'],
  })
    .argument('[id]', 'the payment', text)
    .addOption(THE_PAYMENT)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(options, async ({ db, temporal }) => {
        const deps = paymentsDeps(db, temporal());
        const status = await lookAtPayment(deps, id);
        return { id, object: 'payment', status, looks_at_provider: true };
      });
    });
  reasonedVerb(payments, 'refund', {
    summary: 'Send money back to the customer',
    notes:
      'The merchant pays what was credited for it; the fee on that part is returned. A refund that ' +
      'the balance does not cover is refused with the figures. Also after the workflow has completed.',
    examples: [
      'payments refund pay_… --reason "goods were sold out"',
      'payments refund pay_… --amount 12.50 --reason "paid too much" --json',
      'payments refund pay_… --reason "ticket 812" --operation-id ticket-812',
    ],
  })
    .argument('[id]', 'the payment', text)
    .addOption(THE_PAYMENT)
    .option('--amount <AMOUNT>', 'what the customer gets back (default: all that is left)', text)
    .addOption(OPERATION_ID)
    .action((argument, options) => run(options, decision('refund', argument, options)));
  changeVerb(payments, 'release', {
    summary: 'End a compliance hold: the money may be credited',
    notes:
      "The decision is sent to the provider, and the provider's answer decides what is credited.",
    examples: ['payments release pay_…', 'payments release pay_… --operation-id ticket-813'],
  })
    .argument('[id]', 'the payment', text)
    .addOption(THE_PAYMENT)
    .addOption(OPERATION_ID)
    .action((argument, options) => run(options, decision('release', argument, options)));
  reasonedVerb(payments, 'reject', {
    summary: 'End a compliance hold: the money goes back',
    notes: 'The merchant sees the reason.',
    examples: ['payments reject pay_… --reason "sanctions hit"'],
  })
    .argument('[id]', 'the payment', text)
    .addOption(THE_PAYMENT)
    .addOption(OPERATION_ID)
    .action((argument, options) => run(options, decision('reject', argument, options)));
  changeVerb(payments, 'cancel', {
    summary: 'Cancel a payment that has received nothing yet',
    notes: 'Money that arrives later is credited as late.',
    examples: ['payments cancel pay_… --reason "requested by the shop"'],
  })
    .argument('[id]', 'the payment', text)
    .addOption(THE_PAYMENT)
    .addOption(OPERATION_ID)
    .action((argument, options) => run(options, decision('cancel', argument, options)));
  addLost(payments, run, 'payment');
}

function paymentsDeps(db: Db, temporal: Client): PaymentsDeps {
  return { db, paymentWorkflows: createPaymentWorkflows(temporal, { patience: COMMAND }) };
}

function decision(
  kind: PaymentDecisionKind,
  argument: string | undefined,
  options: DecisionOptions,
): (context: Context) => Promise<ReturnType<typeof present>> {
  const paymentId = requireId(argument, { id: options.id }, WHERE);
  const id = options.operationId ?? randomUUID();
  return async ({ db, by, temporal }) => {
    const deps = paymentsDeps(db, temporal());
    const input = { paymentId, kind, id, amount: options.amount ?? null };
    try {
      return present(await decideAboutPayment(deps, by, input));
    } catch (error) {
      throw unclear(error, id, 'The decision may still be carried out.', 'counts');
    }
  };
}

function present({ id, kind, amount, state, payment }: PaymentDecisionResult) {
  return {
    id,
    object: 'payment_decision',
    payment_id: payment.id,
    kind,
    amount,
    state,
    payment_status: payment.status,
    payment_refunded_amount: payment.refundedAmount,
  };
}
