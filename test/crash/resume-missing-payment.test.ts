/**
 * An operator ends a payment's workflow in Temporal, in one way or another, at any point:
 * restart-missing starts it again, and later changes at the provider are noticed without a callback.
 */
import type { PaymentStatus } from '../../src/domain/payment';
import { verifyWorkflows } from '../../src/kit/service/workflow-check';
import { createLiveWorkflows } from '../../src/temporal/visibility';
import { brokenInvariants, startGateway } from '../support/servers/gateway';
import type { MerchantClient } from '../support/merchant/merchant-client';
import {
  atProvider,
  closeWindow,
  creditsOf,
  openedPayment,
  readPayment,
} from '../support/payment/payment-steps';
import { openMerchant } from '../support/payout/payout-steps';
import { placeOf, temporalCommand } from '../support/servers/temporal-command';
import { type CheckoutEntry, control } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

/** How a payment comes to stand somewhere, and what the provider does when nobody looks. */
interface Stand {
  begin: (id: string) => Promise<void>;
  goOn: (id: string) => Promise<void>;
  exceptions: string[];
  /** Its workflow has ended with its window: only somebody who asks finds late money. */
  isLate?: boolean;
}

const pay = (amount: string, more = {}) => {
  const at = () => new Date().toISOString();
  return (id: string) => atProvider(gateway, id, 'pay', { amount, at: at(), ...more });
};

const STANDS: Partial<Record<PaymentStatus, Stand>> = {
  created: { begin: async () => undefined, goOn: pay('100'), exceptions: [] },
  pending: {
    begin: (id) => atProvider(gateway, id, 'start'),
    goOn: pay('100'),
    exceptions: [],
  },
  processing: {
    begin: (id) => atProvider(gateway, id, 'pay', { then: 'stay' }),
    goOn: (id) => atProvider(gateway, id, 'confirm'),
    exceptions: [],
  },
  on_hold: {
    begin: async (id) => {
      await atProvider(gateway, id, 'pay', { then: 'stay' });
      await atProvider(gateway, id, 'hold');
    },
    goOn: async (id) => {
      await atProvider(gateway, id, 'confirm');
      await atProvider(gateway, id, 'release');
    },
    exceptions: [],
  },
  expired: {
    begin: (id) => closeWindow(gateway, id),
    goOn: pay('100'),
    exceptions: ['late'],
    isLate: true,
  },
  underpaid: {
    begin: async (id) => {
      await pay('40')(id);
      await closeWindow(gateway, id);
    },
    goOn: pay('60'),
    exceptions: ['late'],
    isLate: true,
  },
};

/** What somebody does, as it is typed behind `temporal workflow`. */
const COMMANDS = {
  terminate: ['terminate', '--reason', 'a test'],
  delete: ['delete'],
  'request cancellation': ['cancel'],
  'reset to the last task': ['reset', '--type', 'LastWorkflowTask', '--reason', 'a test'],
} as const;
type Command = keyof typeof COMMANDS;

const CASES = (Object.keys(COMMANDS) as Command[]).flatMap((command) =>
  (Object.keys(STANDS) as PaymentStatus[])
    // An ended workflow can only be deleted.
    .filter((status) => command === 'delete' || !STANDS[status]?.isLate)
    .map((status) => ({ command, status })),
);

const gateway = started(startGateway);
let client: MerchantClient;
const payments = new Map<string, string>();

const nameOf = ({ command, status }: (typeof CASES)[number]) => `${command} ${status}`;

beforeAll(async () => {
  ({ client } = await openMerchant(gateway, { mode: 'test', funds: {} }));
  await Promise.all(CASES.map(prepare));
  // From here on nobody hears of anything who does not look.
  await control(gateway.sandbox.url, 'settings', { callback_base_url: null });
  await Promise.all(CASES.map(interfere));
});

async function prepare(one: (typeof CASES)[number]): Promise<void> {
  const id = await openedPayment(client);
  payments.set(nameOf(one), id);
  await STANDS[one.status]?.begin(id);
  await whenPayment(id, one.status);
}

function whenPayment(id: string, status: PaymentStatus) {
  return waitThroughFaults(`${id} to be ${status}`, async () => {
    // An expiry is noticed when somebody looks; a merchant may make the gateway look.
    if (status === 'expired' || status === 'underpaid') await client.post(`/payments/${id}/verify`);
    const data = await readPayment(client, id);
    return data.status === status ? data : undefined;
  });
}

async function interfere(one: (typeof CASES)[number]): Promise<void> {
  const id = payments.get(nameOf(one)) ?? '';
  const place = placeOf(gateway.env);
  await temporalCommand(place, 'workflow', ...COMMANDS[one.command], '-w', id);
  if (one.command === 'delete') await whenDeleted(id);
  await STANDS[one.status]?.goOn(id);
  if (STANDS[one.status]?.isLate === true) await client.post(`/payments/${id}/verify`);
}

async function whenDeleted(id: string): Promise<void> {
  await waitThroughFaults(`${id} to have no workflow`, async () =>
    gateway.temporal.workflow
      .getHandle(id)
      .describe()
      .then(
        () => undefined,
        () => true,
      ),
  );
  // The sweep leaves alone what was looked at within the last hour.
  const sql = `UPDATE payments SET workflow_checked_at = now() - interval '2 hours' WHERE id = ?`;
  await gateway.db.query(sql, [id]);
}

test.each(CASES)('$command when $status: the payment is completed', async (one) => {
  const id = payments.get(nameOf(one)) ?? '';
  const data = await waitThroughFaults(`${id} to be completed`, async () => {
    const now = await readPayment(client, id);
    return now.status === 'completed' ? now : undefined;
  });
  expect(data).toMatchObject({
    received_amount: '100.00000000',
    net_amount: '99.00000000',
    exceptions: STANDS[one.status]?.exceptions,
  });
  const credits = await creditsOf(gateway, id);
  expect(credits).toHaveLength(one.status === 'underpaid' ? 2 : 1);
});

test('one checkout was opened for each payment, and the ledger is sound', async () => {
  const ids = new Set(payments.values());
  const isOurs = (one: CheckoutEntry) => ids.has(one.client_reference);
  const book = async () => {
    const response = await fetch(`${gateway.sandbox.url}/sandbox/book`);
    return ((await response.json()) as { checkouts: CheckoutEntry[] }).checkouts;
  };
  expect((await book()).filter(isOurs)).toHaveLength(ids.size);
  // A payment that was opened too late for its merchant, who got 503 and asked again.
  await waitThroughFaults('the other checkouts to be cancelled', async () =>
    (await book()).every((one) => isOurs(one) || one.state === 'cancelled'),
  );
  expect(await brokenInvariants(gateway)).toEqual([]);
});

test('ledger:verify finds what has no workflow, until restart-missing has run', async () => {
  const live = createLiveWorkflows(gateway.temporal);
  const [kept, ended] = [await openedPayment(client), await openedPayment(client)];
  const healthy = await verifyWorkflows(gateway.db, live);
  expect(healthy).toMatchObject({ broken: 0, rows: [] });
  expect(healthy.checked).toBeGreaterThanOrEqual(2);

  await temporalCommand(
    placeOf(gateway.env),
    'schedule',
    'toggle',
    '-s',
    'restart-missing',
    '--pause',
  );
  // A run that began before the pause may start it again.
  const found = await waitThroughFaults('the missing workflow to be found', async () => {
    await gateway.temporal.workflow
      .getHandle(ended)
      .terminate('a test')
      .catch(() => undefined);
    const result = await verifyWorkflows(gateway.db, live);
    return result.broken > 0 ? result : undefined;
  });

  await temporalCommand(
    placeOf(gateway.env),
    'schedule',
    'toggle',
    '-s',
    'restart-missing',
    '--unpause',
  );
  expect(found).toMatchObject({ broken: 1, rows: [{ id: ended, status: 'created' }] });
  await waitThroughFaults(
    'a new workflow',
    async () => (await verifyWorkflows(gateway.db, live)).broken === 0,
  );
  expect(await readPayment(client, kept)).toMatchObject({ status: 'created' });
});

test('a payment whose month is over is put aside for good', async () => {
  const id = payments.get('delete expired') ?? '';
  const set = `UPDATE payments SET status = 'expired', credited_amount = 0, expires_at = now() - interval '31 days',
    workflow_checked_at = now() - interval '2 hours' WHERE id = ?`;
  await gateway.db.query(set, [id]);
  const read = `SELECT workflow_checked_at = 'infinity' AS aside FROM payments WHERE id = ?`;
  await waitThroughFaults('the sweep', async () => {
    const [row] = await gateway.db.query<{ aside: boolean }>(read, [id]);
    return row?.aside === true;
  });
  const started = gateway.temporal.workflow.getHandle(id).describe();
  expect((await started).status.name).toBe('COMPLETED');
});
