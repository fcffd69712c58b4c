/** `admin payments`. */
import { randomUUID } from 'node:crypto';
import { type Command, Option } from '@commander-js/extra-typings';
import type { Client } from '@temporalio/client';
import type { Db } from '../../../db/transaction';
import type { PaymentDecisionKind } from '../../../domain/payment';
import {
  cancelRefund,
  decideAboutPayment,
  lookAtPayment,
  type PaymentDecisionResult,
  type PaymentsDeps,
} from '../payment-changes';
import { makeRefundLink } from '../refund-addresses';
import { COMMAND } from '../../../temporal/client';
import { createPaymentWorkflows } from '../../../temporal/payment-workflows';
import type { Context, Run } from '../../../kit/admin/context';
import { addLost } from '../../payouts/admin/lost';
import {
  addNoun,
  changeVerb,
  readVerb,
  reasonedVerb,
  runOn,
  text,
} from '../../../kit/admin/options';
import { unclear } from '../../../kit/admin/errors';

const PAYMENT = { name: 'payment', value: 'PAY_ID', where: 'Its id begins with pay_.' };
const REFUND = { name: 'refund', value: 'RF_ID', where: 'Its id begins with rf_.' };
const OPERATION_ID = new Option(
  '--operation-id <TEXT>',
  'a name of your own for the decision (default: a new one)',
).argParser(text);

interface DecisionOptions {
  operationId?: string | undefined;
  amount?: string | null | undefined;
}

export function addPayments(admin: Command, run: Run): void {
  const payments = addNoun(
    admin,
    'payments',
    'Payments: provider status, compliance holds, cancellation, refunds, and what a restore lost.',
  );
  const decide = (kind: PaymentDecisionKind, verb: ReturnType<typeof changeVerb>) =>
    runOn(run, verb.addOption(OPERATION_ID), PAYMENT, (context, id, options) =>
      decideAbout(context, kind, id, options),
    );
  runOn(
    run,
    readVerb(payments, 'look', {
      summary: 'Ask the provider for the status of a payment now',
      notes: "The provider's answer is applied as usual, also after the workflow has completed.",
      examples: ['payments look pay_…'],
    }),
    PAYMENT,
    async ({ db, temporal }, id) => {
      const status = await lookAtPayment(paymentsDeps(db, temporal()), id);
      return { id, object: 'payment', status, looks_at_provider: true };
    },
  );
  const refund = reasonedVerb(payments, 'refund', {
    summary: 'Send money back to the customer',
    notes:
      'The merchant pays what was credited for it; the fee on that part is returned. A refund that ' +
      'the balance does not cover is refused with the figures. Also after the workflow has completed.',
    examples: [
      'payments refund pay_… --reason "goods were sold out"',
      'payments refund pay_… --amount 12.50 --reason "paid too much" --json',
      'payments refund pay_… --reason "ticket 812" --operation-id ticket-812',
    ],
  }).option('--amount <AMOUNT>', 'what the customer gets back (default: all that is left)', text);
  decide('refund', refund);
  const release = changeVerb(payments, 'release', {
    summary: 'End a compliance hold: the money may be credited',
    notes:
      "The decision is sent to the provider, and the provider's answer decides what is credited.",
    examples: ['payments release pay_…', 'payments release pay_… --operation-id ticket-813'],
  });
  decide('release', release);
  const reject = reasonedVerb(payments, 'reject', {
    summary: 'End a compliance hold: the money goes back',
    notes: 'The merchant sees the reason.',
    examples: ['payments reject pay_… --reason "sanctions hit"'],
  });
  decide('reject', reject);
  const cancel = changeVerb(payments, 'cancel', {
    summary: 'Cancel a payment that has received nothing yet',
    notes: 'Money that arrives later is credited as late.',
    examples: ['payments cancel pay_… --reason "requested by the shop"'],
  });
  decide('cancel', cancel);
  addRefundVerbs(payments, run);
  addLost(payments, run, 'payment');
}

function addRefundVerbs(payments: Command, run: Run): void {
  const link = changeVerb(payments, 'refund-link', {
    summary: 'Make the link with which a customer names the address of a refund, and show it once',
    notes:
      'Add it to the URL of the dashboard, and hand it to the customer yourself: whoever has it decides where the ' +
      'money goes. It works once, and an earlier link of the refund works no more.',
    examples: [
      'payments refund-link rf_… --reason "ticket 812: the customer has no email address"',
    ],
  });
  runOn(run, link, REFUND, async ({ db, by }, id) => {
    const { token, until } = await makeRefundLink(db, by, id);
    const path = `/dashboard/refund-address?token=${token}`;
    return { id, object: 'refund_link', path, until: until.toISOString() };
  });
  const cancel = reasonedVerb(payments, 'refund-cancel', {
    summary: 'Take back a refund that waits for an address or a second person',
    notes: 'Its money returns to the balance of the merchant.',
    examples: ['payments refund-cancel rf_… --reason "the customer was paid in the shop"'],
  });
  runOn(run, cancel, REFUND, async ({ db, by, temporal }, id) => {
    await cancelRefund(paymentsDeps(db, temporal()), by, id);
    return { id, object: 'refund', status: 'failed' };
  });
}

function paymentsDeps(db: Db, temporal: Client): PaymentsDeps {
  return { db, paymentWorkflows: createPaymentWorkflows(temporal, { patience: COMMAND }) };
}

async function decideAbout(
  { db, by, temporal }: Context,
  kind: PaymentDecisionKind,
  paymentId: string,
  { operationId: id = randomUUID(), amount = null }: DecisionOptions,
) {
  const deps = paymentsDeps(db, temporal());
  try {
    return present(await decideAboutPayment(deps, by, { paymentId, kind, id, amount }));
  } catch (error) {
    throw unclear(error, id, 'The decision may still be carried out.', 'counts');
  }
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
