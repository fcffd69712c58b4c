/**
 * Every edge of the payment's table: what the provider did, then one look at it, then the event, the ledger's lines and
 * the balance. No callback comes, so that one look sees all of it.
 */
import { findPayment } from '../../../src/db/payments/payments';
import {
  PAYMENT_TRANSITIONS,
  type PaymentStatus,
  type PaymentTrigger,
} from '../../../src/domain/payment';
import {
  atProvider,
  checkoutOf,
  closeWindow,
  creditOf,
  eventsOf,
  openedPayment,
  postingsOf,
  readPayment,
  refundOf,
  type SeenPosting,
} from '../../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);

beforeAll(() => {
  gateway.sandbox.setCallbackBaseUrl(null);
});

type Step = (id: string) => Promise<void>;

const provider =
  (verb: Parameters<typeof atProvider>[2], members = {}): Step =>
  (id) =>
    atProvider(gateway, id, verb, members);
const close: Step = (id) => closeWindow(gateway, id);
const see = (amount = '100') => provider('pay', { amount, then: 'stay' });
/** A transfer that is seen and confirmed. */
const pay =
  (amount = '100'): Step =>
  async (id) => {
    await atProvider(gateway, id, 'pay', { amount });
    await waitFor(
      'the transfer to be confirmed',
      async () => (await checkoutOf(gateway, id)).planned.length === 0,
    );
  };

const credit = (gross: string, fee: string) => creditOf(`${gross}.00000000`, `${fee}00000`);
const refund = (gross: string, net: string, fee: string) =>
  refundOf(`${gross}.00000000`, `${net}00000`, `${fee}00000`);
const ALL = credit('100', '1.000');
const HALF = credit('50', '0.500');

interface Edge {
  from: PaymentStatus;
  trigger: PaymentTrigger;
  /** What brings it to `from`, where it does not stand there from the beginning. */
  before?: Step[];
  steps: Step[];
  postings?: SeenPosting[];
  available?: string;
  pending?: string;
  exceptions?: string[];
}

const PAID = { postings: [ALL], available: '99.00000000' };
const HALF_PAID = { postings: [HALF], available: '49.50000000' };

/** What may happen to one that nobody has paid yet. */
const untouched = (from: 'created' | 'pending', before: Step[]): Edge[] => [
  { from, trigger: 'see', before, steps: [see()], pending: '100.00000000' },
  { from, trigger: 'hold', before, steps: [see(), provider('hold')], pending: '100.00000000' },
  { from, trigger: 'complete', before, steps: [pay()], ...PAID },
  { from, trigger: 'underpay', before, steps: [pay('50'), close], ...HALF_PAID },
  { from, trigger: 'fail', before, steps: [provider('fail')] },
  { from, trigger: 'expire', before, steps: [close] },
  { from, trigger: 'cancel', before, steps: [provider('cancel')] },
];

const HELD: Step[] = [pay(), provider('hold')];
const LATE = { exceptions: ['late'] };

const EDGES: Edge[] = [
  { from: 'created', trigger: 'start', steps: [provider('start')] },
  ...untouched('created', []),
  ...untouched('pending', [provider('start')]),
  {
    from: 'processing',
    trigger: 'hold',
    before: [see()],
    steps: [provider('hold')],
    pending: '100.00000000',
  },
  {
    from: 'processing',
    trigger: 'complete',
    before: [see()],
    steps: [provider('confirm')],
    ...PAID,
  },
  {
    from: 'processing',
    trigger: 'underpay',
    before: [see('50')],
    steps: [provider('confirm'), close],
    ...HALF_PAID,
  },
  { from: 'processing', trigger: 'fail', before: [see()], steps: [provider('fail')] },
  { from: 'processing', trigger: 'expire', before: [see()], steps: [provider('drop'), close] },
  { from: 'on_hold', trigger: 'complete', before: HELD, steps: [provider('release')], ...PAID },
  {
    from: 'on_hold',
    trigger: 'underpay',
    before: [pay('50'), provider('hold')],
    steps: [close, provider('release')],
    ...HALF_PAID,
  },
  { from: 'on_hold', trigger: 'fail', before: HELD, steps: [provider('fail')] },
  { from: 'on_hold', trigger: 'refund', before: HELD, steps: [provider('reject')] },
  {
    from: 'completed',
    trigger: 'complete',
    before: [pay()],
    steps: [pay('20')],
    postings: [ALL, credit('20', '0.200')],
    available: '118.80000000',
    exceptions: ['overpaid'],
  },
  {
    from: 'completed',
    trigger: 'refund',
    before: [pay()],
    steps: [provider('refund')],
    postings: [ALL, refund('100', '99.000', '1.000')],
    available: '0.00000000',
  },
  {
    from: 'underpaid',
    trigger: 'underpay',
    before: [pay('50'), close],
    steps: [pay('20')],
    postings: [HALF, credit('20', '0.200')],
    available: '69.30000000',
    ...LATE,
  },
  {
    from: 'underpaid',
    trigger: 'complete',
    before: [pay('50'), close],
    steps: [pay('50')],
    postings: [HALF, HALF],
    available: '99.00000000',
    ...LATE,
  },
  {
    from: 'underpaid',
    trigger: 'refund',
    before: [pay('50'), close],
    steps: [provider('refund')],
    postings: [HALF, refund('50', '49.500', '0.500')],
    available: '0.00000000',
  },
  { from: 'expired', trigger: 'complete', before: [close], steps: [pay()], ...PAID, ...LATE },
  {
    from: 'expired',
    trigger: 'underpay',
    before: [close],
    steps: [pay('50')],
    ...HALF_PAID,
    ...LATE,
  },
  {
    from: 'cancelled',
    trigger: 'complete',
    before: [provider('cancel')],
    steps: [pay()],
    ...PAID,
    ...LATE,
  },
  {
    from: 'cancelled',
    trigger: 'underpay',
    before: [provider('cancel')],
    steps: [pay('50')],
    ...HALF_PAID,
    ...LATE,
  },
];

const nextStatus = ({ from, trigger }: Edge): PaymentStatus =>
  (PAYMENT_TRANSITIONS[from] as Record<string, PaymentStatus>)[trigger]!;

test('the table below has every edge of the payment table, and no other', () => {
  const all = Object.entries(PAYMENT_TRANSITIONS).flatMap(([from, edges]) =>
    Object.keys(edges).map((trigger) => `${from}: ${trigger}`),
  );
  expect(EDGES.map(({ from, trigger }) => `${from}: ${trigger}`).sort()).toEqual(all.sort());
});

test.each(EDGES.map((edge) => ({ ...edge, to: nextStatus(edge) })))(
  '$from: $trigger leads to $to, with its event, its postings and its balance',
  async (edge) => {
    const { from, to, before = [], steps, postings = [] } = edge;
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client);
    if (before.length > 0) await happen(id, before);
    await expectAt(id, from);
    await happen(id, steps);
    await expectAt(id, to);

    const seen = await readPayment(client, id);
    expect(seen).toMatchObject({ status: to, exceptions: edge.exceptions ?? [] });
    const way = [...new Set(['created', from]), to];
    const types = way.map((status) => `payment.${status}`);
    // More money where it stands has an event of its own.
    if (from === to) types[types.length - 1] = 'payment.received';
    const events = await eventsOf(gateway, id);
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(events.map(({ sequence }) => sequence)).toEqual(way.map((_, index) => index + 1));
    expect(events.map(({ body }) => body.data.status)).toEqual(way);
    expect(await postingsOf(gateway, id)).toEqual(postings);
    expect((await balanceOf(client)) ?? { currency: 'USDT' }).toEqual(
      edge.available === undefined && edge.pending === undefined
        ? { currency: 'USDT' }
        : {
            currency: 'USDT',
            available: edge.available ?? '0.00000000',
            reserved: '0.00000000',
            pending: edge.pending ?? '0.00000000',
          },
    );
  },
);

/** At the provider, while nobody looks; then somebody does. */
async function happen(id: string, steps: Step[]): Promise<void> {
  for (const step of steps) await step(id);
  await gateway.look(id);
}

async function expectAt(id: string, status: PaymentStatus): Promise<void> {
  expect((await findPayment(gateway.db, id))?.status).toBe(status);
}
