/**
 * The figure that limits are checked against equals the full sum over the payouts of the last 24 hours,
 * whatever happens to them, in whatever order, and at the edge of the window.
 */
import fc from 'fast-check';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import { newId } from '../../../src/platform/lib/new-id';
import { lockUsage, readKeyFacts, readPayoutFacts } from '../../../src/db/payouts/payout-facts';
import { amount } from '../../../src/domain/money';
import { sqlList, type Tx } from '../../../src/db/transaction';
import { PAYOUT_STATUSES, RETURNED_PAYOUT_STATUSES } from '../../../src/domain/payout';
import { compose, openTestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  creditPayment,
  fundedBalance,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { askedPayout, openKey } from '../reserving-world';
import { whenWaiting } from '../lock-waits';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';

const DAY_MS = 24 * 60 * 60 * 1000;

const database = started(() => openTestDatabase({ owner: 2, app: 6 }));

type Step =
  | { do: 'reserve'; units: number; ageMs: number; reviewed: boolean }
  | { do: 'change'; which: number; status: (typeof PAYOUT_STATUSES)[number] }
  | { do: 'review'; which: number }
  | { do: 'limit'; daily: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      units: fc.integer({ min: 1, max: 1_000_000 }),
      // Half of them close to the edge, so that they cross it during the test.
      ageMs: fc.oneof(
        fc.integer({ min: 0, max: DAY_MS + 3_600_000 }),
        fc.integer({ min: DAY_MS - 400, max: DAY_MS + 10 }),
      ),
      reviewed: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      which: fc.nat(),
      status: fc.constantFrom(...PAYOUT_STATUSES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('review' as const), which: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), daily: fc.boolean() }) },
);

test('it equals the full sum after any steps, also concurrent ones', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { maxLength: 5 }), { maxLength: 8 }),
      async (rounds) => {
        const key: BalanceKey = {
          accountId: await makeAccount(database.owner),
          mode: 'live',
          currency: 'USDT',
        };
        const ids: string[] = [];
        for (const round of rounds) {
          await Promise.all(round.map((one) => take(key, one, ids)));
          const figures = await compare(key);
          // Without a row nothing is counted; the first reservation under a limit makes one.
          if (figures.used !== null) expect(figures.used).toBe(figures.full);
          if (figures.approved !== null) expect(figures.approved).toBe(figures.fullApproved);
        }
        await setLimit(key, true);
        await reserve(key, { units: 1, ageMs: 0, reviewed: false }, ids);
        const { used, full, approved, fullApproved } = await compare(key);
        expect({ used, approved }).toEqual({ used: full, approved: fullApproved });
      },
    ),
    { numRuns: scaled(15, 400) },
  );
});

test('what goes to review after its day frees nothing of the present one', async () => {
  const key: BalanceKey = {
    accountId: await makeAccount(database.owner),
    mode: 'live',
    currency: 'USDT',
  };
  const ids: string[] = [];
  await setLimit(key, true);
  await reserve(key, { units: 5, ageMs: 0, reviewed: false }, ids);
  await reserve(key, { units: 7, ageMs: DAY_MS + 1_000, reviewed: false }, ids);
  await take(key, { do: 'review', which: 1 }, ids);
  expect((await compare(key)).approved).toBe('5.00000000');
});

test('reservations without a limit do not wait for each other, and count nothing', async () => {
  const key: BalanceKey = {
    accountId: await makeAccount(database.owner),
    mode: 'live',
    currency: 'USDT',
  };
  await setLimit(key, false);
  const first = await database.app.begin();
  lockUsage(first, { ...key, apiKeyId: newId('apiKey') });
  // It is sent with the next statement.
  await first.query('SELECT 1');
  await database.app.transaction((tx) => {
    lockUsage(tx, { ...key, apiKeyId: newId('apiKey') });
  });
  await first.commit();
  expect(
    await database.owner.query('SELECT FROM payout_usage WHERE account_id = ?', [key.accountId]),
  ).toEqual([]);
});

test('a reservation under a limit waits for the one before it', async () => {
  const key: BalanceKey = {
    accountId: await makeAccount(database.owner),
    mode: 'live',
    currency: 'USDT',
  };
  await setLimit(key, true);
  await reserve(key, { units: 1, ageMs: 0, reviewed: false }, []);
  const lock = async (tx: Tx) => {
    lockUsage(tx, { ...key, apiKeyId: newId('apiKey') });
    // It is sent with the next statement.
    await tx.query('SELECT 1');
  };
  const first = await database.app.begin();
  await lock(first);
  const second = database.app.transaction(lock);
  const happens = await Promise.race([
    second.then(() => 'it goes on'),
    whenWaiting(database.owner, 1).then(() => 'it waits'),
  ]);
  await first.commit();
  await second;
  expect(happens).toBe('it waits');
});

test('a limit that is set during a reservation counts that payout too', async () => {
  const key: BalanceKey = {
    accountId: await makeAccount(database.owner),
    mode: 'live',
    currency: 'USDT',
  };
  await setLimit(key, false);
  const first = await database.app.begin();
  lockUsage(first, { ...key, apiKeyId: newId('apiKey') });
  // It is sent with the next statement.
  await first.query('SELECT 1');
  await insert(first, key, { units: 7, ageMs: 0, reviewed: true });
  await setLimit(key, true);
  const second = reserve(key, { units: 5, ageMs: 0, reviewed: true }, []);
  await first.commit();
  await second;
  const { used, full } = await compare(key);
  expect([used, full]).toEqual(['12.00000000', '12.00000000']);
});

test('a limit names the time when the oldest payout that counts leaves the window', async () => {
  const key = await fundedBalance(database.app, '100');
  const by = await openKey(database.owner, key, { USDT: { per_day: amount('100') } });
  await setLimit(key, true);
  const resets = new Map<string, string>();
  for (const [hours, status] of [
    [25, 'completed'],
    [23, 'failed'],
    [22, 'rejected'],
    [21, 'cancelled'],
    [20, 'completed'],
    [1, 'approved'],
  ] as const) {
    const payout = buildPayoutMoney('1000000');
    await insertPayout(database.owner, key, payout, status, {
      api_key_id: by.apiKeyId,
      created_at: compose.raw(`now() - ? * interval '1 hour'`, [hours]),
    });
    const [stored] = await database.owner.query<{ at: Date }>(
      `SELECT created_at + interval '24 hours' AS at FROM payouts WHERE id = ?`,
      [payout.id],
    );
    resets.set(`${hours}`, stored!.at.toISOString());
  }
  await database.app.transaction(async (tx) => {
    lockUsage(tx, { ...by, currency: 'USDT' });
    const request = askedPayout({ amount: '1000000000' });
    const route = { provider: 'onchain_provider', network: 'tron' } as const;
    const facts = await readPayoutFacts(tx, { ...by, ...route, request });
    expect(facts.usedToday).toBe('2000000.00000000');
    expect(facts.windowResetsAt?.toISOString()).toBe(resets.get('20'));
    expect(facts.key.usedToday).toBe('2000000.00000000');
    expect(facts.key.resetsAt?.toISOString()).toBe(resets.get('20'));
  });
});

test('the day of a key counts its refunds, but for those that were refused', async () => {
  const key: BalanceKey = {
    accountId: await makeAccount(database.owner),
    mode: 'live',
    currency: 'USDT',
  };
  const by = await openKey(database.owner, key, { USDT: { per_day: amount('100') } });
  const paymentId = await creditPayment(database.app, key, '100', '1');
  const insert = (value: string, state: string, apiKeyId: string) =>
    database.owner.query(
      compose('payment_refunds').insert({
        payment_id: paymentId,
        reference: newId('refund'),
        ...{ amount: value, taken: '0', fee: '0', state, requested_by: 'merchant' },
        api_key_id: apiKeyId,
      }),
    );
  await insert('40', 'refused', by.apiKeyId);
  await insert('30', 'ordered', by.apiKeyId);
  await insert('5', 'done', by.apiKeyId);
  await insert('20', 'ordered', newId('apiKey'));
  expect((await readKeyFacts(database.app, by, 'USDT')).usedToday).toBe('35.00000000');
});

type Reserve = Omit<Extract<Step, { do: 'reserve' }>, 'do'>;

async function take(key: BalanceKey, one: Step, ids: string[]): Promise<void> {
  if (one.do === 'reserve') return reserve(key, one, ids);
  if (one.do === 'limit') return setLimit(key, one.daily);
  const id = ids[one.which % Math.max(1, ids.length)];
  if (id === undefined) return;
  const change = one.do === 'review' ? { review_reasons: ['review_all'] } : { status: one.status };
  await database.app.query(compose('payouts').where({ id }).update(change));
}

async function reserve(key: BalanceKey, payout: Reserve, ids: string[]): Promise<void> {
  const id = await database.app.transaction(async (tx) => {
    lockUsage(tx, { ...key, apiKeyId: newId('apiKey') });
    return insert(tx, key, payout);
  });
  ids.push(id);
}

async function insert(
  tx: Tx,
  key: BalanceKey,
  { units, ageMs, reviewed }: Reserve,
): Promise<string> {
  const payout = buildPayoutMoney(String(units));
  await insertPayout(tx, key, payout, 'approved', {
    review_reasons: reviewed ? ['review_all'] : [],
    created_at: compose.raw(`clock_timestamp() - ? * interval '1 millisecond'`, [ageMs]),
  });
  return payout.id;
}

async function setLimit({ accountId, currency }: BalanceKey, daily: boolean): Promise<void> {
  await database.owner.query(
    `INSERT INTO payout_policies (account_id, currency, daily_max) VALUES (?, ?, ?)
     ON CONFLICT (account_id, currency) DO UPDATE SET daily_max = excluded.daily_max`,
    [accountId, currency, daily ? '1000000000' : null],
  );
}

/** One statement, so that both sides have the same edge. */
async function compare({ accountId, mode, currency }: BalanceKey) {
  const found = await database.owner.query<Record<string, string | null>>(
    `SELECT u.used, u.auto_approved AS approved, f.*
       FROM (SELECT coalesce(sum(amount), 0)::numeric(38,8) AS full,
                    coalesce(sum(amount) FILTER (WHERE review_reasons = '{}'), 0)::numeric(38,8)
                      AS full_approved
               FROM payouts
              WHERE (account_id, mode, currency) = (?, ?, ?)
                AND status NOT IN (${sqlList(RETURNED_PAYOUT_STATUSES)})
                AND created_at > statement_timestamp() - interval '24 hours') AS f
       LEFT JOIN payout_used(?, ?, ?) AS u ON true`,
    [accountId, mode, currency, accountId, mode, currency],
  );
  return found[0]!;
}
