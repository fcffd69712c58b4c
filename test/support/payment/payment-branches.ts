/** The ways that a payment can go, as data: what happens to it, and what is recorded then. */
import type { ActivityName } from '../chaos/activity-faults';
import {
  closeWindowOf,
  createPaymentCase,
  payAtProvider,
  type PaymentRecords,
  type PaymentCase,
  type PaymentOptions,
  playAtProvider,
  readPaymentRow,
  whenPaymentRow,
} from './payment-case';
import { whenDetails } from '../payout/payout-case';
import type { WorkflowWorld } from '../servers/workflow-world';
import { waitFor } from '../wait-for';

export interface PaymentBranch {
  /** Also the name of its history under test/fixtures/histories. */
  name: string;
  title: string;
  act: (payment: PaymentCase, world: WorkflowWorld) => Promise<void>;
  /** The activities that it cannot do without, as often as it needs them at least. */
  steps: ActivityName[];
  expected: PaymentRecords;
}

const LOOKED_ONCE: ActivityName[] = ['openPayment', 'checkPayment'];
const LOOKED_TWICE: ActivityName[] = [...LOOKED_ONCE, 'checkPayment'];
const DECIDED: ActivityName[] = [...LOOKED_TWICE, 'decidePayment'];
const CANCELLED: ActivityName[] = ['openPayment', 'decidePayment', 'checkPayment'];

const NOTHING: Omit<PaymentRecords, 'status' | 'events'> = {
  exceptions: [],
  available: '0.00000000',
  postings: [],
  refunds: [],
};
const CREDITED = {
  ...NOTHING,
  available: '99.00000000',
  postings: ['payin_settlement'],
};

async function hold(payment: PaymentCase, world: WorkflowWorld): Promise<void> {
  await playAtProvider(world, payment, 'hold');
  await payAtProvider(world, payment, '100');
  await whenPaymentRow(world, payment, 'on_hold');
  await whenDetails(payment, /^\*\*on hold/);
}

async function underpay(payment: PaymentCase, world: WorkflowWorld): Promise<void> {
  await payAtProvider(world, payment, '50');
  await whenPaymentRow(world, payment, 'processing');
  await closeWindowOf(world, payment);
  await whenPaymentRow(world, payment, 'underpaid');
}

export const PAYMENT_BRANCHES: readonly PaymentBranch[] = [
  {
    name: 'payment-completed',
    title: 'a payment that is paid exactly',
    act: (payment, world) => payAtProvider(world, payment, '100'),
    steps: LOOKED_ONCE,
    expected: { ...CREDITED, status: 'completed', events: ['created', 'completed'] },
  },
  {
    name: 'payment-underpaid',
    title: 'a payment that is paid in part',
    act: underpay,
    steps: LOOKED_TWICE,
    expected: {
      ...NOTHING,
      status: 'underpaid',
      events: ['created', 'processing', 'underpaid'],
      available: '49.50000000',
      postings: ['payin_settlement'],
    },
  },
  {
    name: 'payment-expired-then-late',
    title: 'a payment that is paid late',
    act: async (payment, world) => {
      await closeWindowOf(world, payment);
      await whenPaymentRow(world, payment, 'expired');
      await payAtProvider(world, payment, '100');
    },
    steps: LOOKED_TWICE,
    expected: {
      ...CREDITED,
      status: 'completed',
      exceptions: ['late'],
      events: ['created', 'expired', 'completed'],
    },
  },
  {
    name: 'payment-failed',
    title: 'a payment that fails',
    act: (payment, world) => playAtProvider(world, payment, 'fail'),
    steps: LOOKED_ONCE,
    expected: { ...NOTHING, status: 'failed', events: ['created', 'failed'] },
  },
  {
    name: 'payment-cancelled',
    title: 'a payment that an operator cancels',
    act: (payment) => payment.handle.signal('cancel', { by: 'alice' }),
    steps: CANCELLED,
    expected: {
      ...NOTHING,
      status: 'cancelled',
      exceptions: ['manual'],
      events: ['created', 'cancelled'],
    },
  },
  {
    name: 'payment-released',
    title: 'a held payment that an operator releases',
    act: async (payment, world) => {
      await hold(payment, world);
      await payment.handle.signal('release');
    },
    steps: DECIDED,
    expected: {
      ...CREDITED,
      status: 'completed',
      exceptions: ['manual'],
      events: ['created', 'on_hold', 'completed'],
    },
  },
  {
    name: 'payment-rejected',
    title: 'a held payment that an operator rejects',
    act: async (payment, world) => {
      await hold(payment, world);
      await payment.handle.signal('reject', { by: 'bob', reason: 'sanctions hit' });
    },
    steps: DECIDED,
    expected: {
      ...NOTHING,
      status: 'refunded',
      exceptions: ['manual'],
      events: ['created', 'on_hold', 'refunded'],
      refunds: ['100.00000000'],
    },
  },
  {
    name: 'payment-refunded-by-operator',
    title: 'an underpaid payment that an operator refunds',
    act: async (payment, world) => {
      await underpay(payment, world);
      await payment.handle.signal('refund', { by: 'carol', reason: 'too little' });
    },
    steps: DECIDED,
    expected: {
      ...NOTHING,
      status: 'refunded',
      exceptions: ['manual'],
      events: ['created', 'processing', 'underpaid', 'refunded'],
      postings: ['payin_settlement', 'payin_refund'],
      refunds: ['50.00000000'],
    },
  },
  {
    name: 'payment-refunded-in-part',
    title: 'an underpaid payment of which an operator refunds a part',
    act: async (payment, world) => {
      await underpay(payment, world);
      await payment.handle.signal('refund', { amount: '20', reason: 'a part' });
      await waitFor(
        'the refund',
        async () => (await readPaymentRow(world, payment.id)).refundedAmount === '20.00000000',
      );
    },
    steps: DECIDED,
    expected: {
      ...NOTHING,
      status: 'underpaid',
      exceptions: ['manual'],
      events: ['created', 'processing', 'underpaid'],
      available: '29.70000000',
      postings: ['payin_settlement', 'payin_refund'],
      refunds: ['20.00000000'],
    },
  },
  {
    name: 'payment-refunded-by-provider',
    title: 'a payment that the provider refunds',
    act: async (payment, world) => {
      await payAtProvider(world, payment, '100');
      await whenPaymentRow(world, payment, 'completed');
      await playAtProvider(world, payment, 'refund');
    },
    steps: LOOKED_TWICE,
    expected: {
      ...NOTHING,
      status: 'refunded',
      events: ['created', 'completed', 'refunded'],
      postings: ['payin_settlement', 'payin_refund'],
      refunds: ['100.00000000'],
    },
  },
];

/** Opens the payment, lets its branch happen, and waits for its end. */
export async function runPaymentBranch(
  world: WorkflowWorld,
  { act, expected }: PaymentBranch,
  options: PaymentOptions = {},
): Promise<PaymentCase> {
  const payment = await createPaymentCase(world, options);
  await act(payment, world);
  await whenPaymentRow(world, payment, expected.status);
  const status = expected.status.replaceAll('_', ' ');
  await whenDetails(payment, new RegExp(`^\\*\\*${status}`));
  return payment;
}
