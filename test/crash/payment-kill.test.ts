/**
 * Programs are killed between the provider's checkout and the merchant's answer: the retry with the
 * same key gets the one payment, and the provider has one checkout for it.
 */
import { Client } from 'pg';
import { brokenInvariants, startGateway } from '../support/servers/gateway';
import type { ApiAnswer, MerchantClient } from '../support/merchant/merchant-client';
import {
  atProvider,
  buildPayment,
  checkoutOf,
  whenPayment,
} from '../support/payment/payment-steps';
import { openMerchant } from '../support/payout/payout-steps';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

const gateway = started(startGateway);

const VICTIMS = {
  'the API': async () => {
    await gateway.api.kill();
    return () => gateway.api.start();
  },
  'the worker': async () => {
    await gateway.worker.kill();
    return () => gateway.worker.start();
  },
  'the API and the worker': async () => {
    await Promise.all([gateway.api.kill(), gateway.worker.kill()]);
    return async () => {
      await Promise.all([gateway.api.start(), gateway.worker.start()]);
    };
  },
} as const;
type Victim = keyof typeof VICTIMS;

const LOCK = 4_712;

/**
 * - `before the commit`: the payment is about to be inserted, and dies with its worker.
 * - `at the commit`: PostgreSQL commits it, and whoever waited for that may be gone.
 */
const MOMENTS = {
  'before the commit': 'LOCK TABLE payments IN EXCLUSIVE MODE',
  'at the commit': `SELECT pg_advisory_xact_lock(${LOCK})`,
} as const;
type Moment = keyof typeof MOMENTS;

const GATE = `
CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(${LOCK});
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER wait_at_gate AFTER INSERT ON payments
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_gate()`;

/** A start of a program may take longer than a claim lives. */
const LONG_CLAIMS = `
CREATE FUNCTION prolong_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.lease_until := now() + interval '10 minutes';
  RETURN NEW;
END $$;
CREATE TRIGGER prolong_claim BEFORE INSERT ON idempotency_keys
  FOR EACH ROW EXECUTE FUNCTION prolong_claim()`;

beforeAll(async () => {
  await gateway.db.query(GATE);
  await gateway.db.query(LONG_CLAIMS);
});

/** Keeps every new payment at the moment until it is called again. */
async function stopAt(moment: Moment): Promise<() => Promise<void>> {
  const keeper = new Client({ connectionString: gateway.database.ownerUrl });
  await keeper.connect();
  await keeper.query('BEGIN');
  await keeper.query(MOMENTS[moment]);
  return () => keeper.end();
}

/** restart-missing may wait for the same lock, but inserts nothing. */
async function whenStopped(): Promise<void> {
  await waitThroughFaults(
    'a payment at the gate',
    async () => {
      const sql = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND (query ILIKE 'commit%' OR query LIKE '%INSERT INTO payments%')`;
      return (await gateway.db.query(sql))[0];
    },
    15_000,
  );
}

/** Sends until there is an answer that a merchant would not retry. */
function sendAgain(client: MerchantClient, body: unknown, key: string): Promise<ApiAnswer> {
  return waitThroughFaults('the answer', async () => {
    const answer = await client.createPayment(body, key);
    const isBusy = answer.json.error?.code === 'request_in_progress';
    return answer.status >= 500 || isBusy ? undefined : answer;
  });
}

async function checkoutsAtProvider(amount: string): Promise<string[]> {
  const response = await fetch(`${gateway.sandbox.url}/sandbox/book`);
  const { checkouts } = (await response.json()) as {
    checkouts: { client_reference: string; amount: string }[];
  };
  return checkouts.filter((one) => one.amount === amount).map((one) => one.client_reference);
}

const CASES = (Object.keys(MOMENTS) as Moment[]).flatMap((moment, row) =>
  (Object.keys(VICTIMS) as Victim[]).map((victim, column) => ({
    moment,
    victim,
    // Tells the cases apart in the provider's book.
    amount: `${100 + row * 10 + column}.00000000`,
  })),
);

test.each(CASES)('$victim killed $moment', async ({ moment, victim, amount }) => {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const body = buildPayment({ amount });
  const release = await stopAt(moment);
  const sending = client.createPayment(body, 'key-1').catch(() => null);
  const { first, startAgain } = await whenStopped()
    .then(async () => {
      const [opened] = await checkoutsAtProvider(amount);
      return { first: opened, startAgain: await VICTIMS[victim]() };
    })
    .finally(release);
  await startAgain();
  expect(first).toMatch(/^pay_/);
  const firstAnswer = await sending;

  const answer = await sendAgain(client, body, 'key-1');
  expect(answer.status).toBe(201);
  const { id } = answer.json.data;
  const sql = 'SELECT id FROM payments WHERE account_id = ?';
  expect(await gateway.db.query(sql, [accountId])).toEqual([{ id }]);
  // When no payment came to be in time, an API that lives says so, and the key is free. The first
  // checkout then belongs to nobody: no customer was ever sent there, and it is cancelled.
  const gaveUp = firstAnswer?.status === 503;
  expect(gaveUp).toBe(victim === 'the worker' && moment === 'before the commit');
  const isAnother = id !== first;
  expect(await checkoutsAtProvider(amount)).toEqual(isAnother ? [first, id] : [id]);
  if (isAnother) {
    await waitThroughFaults(
      'the first checkout to be cancelled',
      async () => (await checkoutOf(gateway, first!)).state === 'cancelled',
    );
  }
  if (firstAnswer?.status === 201) expect(firstAnswer.json.data.id).toBe(id);

  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  expect((await client.createPayment(body, 'key-1')).text).toBe(answer.text);
  expect(await brokenInvariants(gateway)).toEqual([]);
});
