/** `admin payments`. */
import { randomUUID } from 'node:crypto';
import type { PaymentDecisionKind } from '../domain/payment';
import { decideAboutPayment, lookAtPayment } from '../services/admin/payments';
import { createPaymentWorkflows } from '../temporal/payment-workflows';
import { type AnyVerb, type Context, type OptionSpec, verb, type Noun } from './command';
import { unclear } from './error-sentence';
import type { Options } from './options';
import { showObject } from './output';

const COMMON: Record<string, OptionSpec> = {
  id: { value: 'PAY_ID', help: 'the payment' },
  'operation-id': { value: 'TEXT', help: 'a name of your own for the decision (a new one)' },
};

interface Input {
  paymentId: string;
  id: string;
  amount: string | null;
}

function read(options: Options): Input {
  return {
    paymentId: options.required('id', 'the payment, pay_…'),
    id: options.text('operation-id') ?? randomUUID(),
    amount: null,
  };
}

async function decide({ db, by, temporal }: Context, kind: PaymentDecisionKind, input: Input) {
  const paymentWorkflows = createPaymentWorkflows(temporal());
  try {
    return await decideAboutPayment({ db, paymentWorkflows }, by, { kind, ...input });
  } catch (error) {
    throw unclear(error, input.id, 'It may be carried out still.', 'counts');
  }
}

interface DecisionVerb {
  kind: PaymentDecisionKind;
  summary: string;
  notes: readonly string[];
  examples: readonly string[];
  changes: 'reason optional' | 'reason required';
}

function decisionVerb({ kind, ...texts }: DecisionVerb): AnyVerb {
  return verb({
    ...texts,
    subject: 'id',
    options: COMMON,
    read,
    run: (context, input) => decide(context, kind, input),
    show: showObject,
  });
}

export const PAYMENTS: Noun = {
  summary: 'One payment: looks at the provider, compliance holds, cancelling and refunds.',
  verbs: {
    look: verb({
      summary: 'Has a payment look at the provider now',
      notes: ['What the provider says is brought in as always, also after the workflow ended.'],
      subject: 'id',
      options: { id: { value: 'PAY_ID', help: 'the payment' } },
      examples: ['payments look pay_…'],
      read: (options) => options.required('id', 'the payment, pay_…'),
      run: ({ db, temporal }, id) =>
        lookAtPayment({ db, paymentWorkflows: createPaymentWorkflows(temporal()) }, id),
      show: showObject,
    }),
    refund: verb({
      summary: 'Sends money back to the customer',
      notes: [
        'The merchant bears what was credited for it; the fee on that part is given up. Where the',
        'balance does not cover it, it is refused with the figures. Also after the workflow ended.',
      ],
      subject: 'id',
      options: {
        ...COMMON,
        amount: { value: 'AMOUNT', help: 'what the customer gets back (all that is left)' },
      },
      examples: [
        'payments refund pay_… --reason "goods were sold out"',
        'payments refund pay_… --amount 12.50 --reason "paid too much" --json',
        'payments refund pay_… --reason "ticket 812" --operation-id ticket-812',
      ],
      changes: 'reason required',
      read: (options) => ({ ...read(options), amount: options.text('amount') ?? null }),
      run: (context, input) => decide(context, 'refund', input),
      show: showObject,
    }),
    release: decisionVerb({
      kind: 'release',
      summary: 'Ends a compliance hold: the money may be credited',
      notes: ['The provider is told; what it says then decides what is credited.'],
      examples: ['payments release pay_…', 'payments release pay_… --operation-id ticket-813'],
      changes: 'reason optional',
    }),
    reject: decisionVerb({
      kind: 'reject',
      summary: 'Ends a compliance hold: the money goes back',
      notes: ['The merchant reads the reason.'],
      examples: ['payments reject pay_… --reason "sanctions hit"'],
      changes: 'reason required',
    }),
    cancel: decisionVerb({
      kind: 'cancel',
      summary: 'Cancels a payment for which nothing was seen yet',
      notes: ['Money that comes all the same is credited as late.'],
      examples: ['payments cancel pay_… --reason "the shop asks for it"'],
      changes: 'reason optional',
    }),
  },
};
