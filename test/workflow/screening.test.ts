/**
 * The screening of live payouts (decisions/controls#screening) through workflow, database and a service over HTTP:
 * nothing is sent without a clear answer or an operator's decision, and nothing is lost.
 */
import { insertDecision } from '../../src/db/payouts/payout-decisions';
import { findReviewed } from '../../src/db/payouts/review-queue';
import { requireService } from '../../src/db/screening/screening';
import { newId } from '../../src/platform/lib/new-id';
import { DEFAULT_REJECTION_REASON } from '../../src/domain/payout';
import {
  SCREENING_SCENARIOS,
  type ScreeningScenario,
} from '../../src/rails/sandbox/screening/scenarios';
import { importList, removeSource } from '../../src/features/screening/screening';
import { brokenInvariants } from '../support/servers/gateway';
import {
  createPayoutCase,
  type PayoutCase,
  readPayout,
  readRecords,
  readSearchAttributes,
  restartMissing,
  whenDetails,
  whenOver,
} from '../support/payout/payout-case';
import { startWorkflowWorld } from '../support/servers/workflow-world';
import { FUNDS } from '../support/merchant/merchant';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';
import { makeUser } from '../support/merchant/page-client';

const world = started(() => startWorkflowWorld('payouts'));

beforeAll(() => requireService(world.db));

/** An approved live payout to an address that the service answers about as in the scenario. */
async function approvedPayout(scenario: ScreeningScenario | 'clear'): Promise<PayoutCase> {
  const destination =
    scenario === 'clear'
      ? {}
      : {
          destination: {
            type: 'crypto_address' as const,
            value: SCREENING_SCENARIOS[scenario].tron,
            memo: null,
          },
        };
  const payout = await createPayoutCase(world, { request: destination });
  await payout.handle.signal('approve', { by: 'alice' });
  return payout;
}

interface Answer {
  source: string;
  verdict: string;
  reasons: string[];
}

function answersOf({ id }: PayoutCase): Promise<Answer[]> {
  const sql = `SELECT source, verdict, reasons FROM screening_answers WHERE object_id = ? ORDER BY id`;
  return world.db.query<Answer>(sql, [id]);
}

function casesOf({ id }: PayoutCase) {
  const sql = `SELECT kind, details, resolution FROM cases WHERE object_id = ? ORDER BY created_at`;
  return world.db.query<{ kind: string; details: unknown; resolution: string | null }>(sql, [id]);
}

test('a payout to a clear destination is sent, and the answer is kept', async () => {
  const payout = await approvedPayout('clear');
  expect(await whenOver(payout)).toBe('completed');
  expect(await readRecords(world, payout)).toMatchObject({ status: 'completed', timesSent: 1 });
  expect(await answersOf(payout)).toEqual([{ source: 'service', verdict: 'clear', reasons: [] }]);
  expect(await casesOf(payout)).toEqual([]);
});

test('a payout of test mode is not screened', async () => {
  const payout = await createPayoutCase(world, {
    mode: 'test',
    request: {
      destination: {
        type: 'crypto_address',
        value: SCREENING_SCENARIOS.block.tron,
        memo: null,
      },
    },
  });
  expect(await whenOver(payout)).toBe('completed');
  expect(await answersOf(payout)).toEqual([]);
});

test('a blocked payout is rejected for a reason that says nothing, and the funds return', async () => {
  const payout = await approvedPayout('block');
  expect(await whenOver(payout)).toBe('rejected');
  expect(await readPayout(world, payout)).toMatchObject({
    rejectionReason: DEFAULT_REJECTION_REASON,
    submissionStartedAt: null,
  });
  expect(await readRecords(world, payout)).toMatchObject({
    available: FUNDS,
    reserved: '0.00000000',
    timesSent: 0,
  });
  const [found] = await casesOf(payout);
  expect(found).toMatchObject({
    kind: 'screening_blocked',
    details: { answers: [{ source: 'service', verdict: 'block' }] },
    resolution: null,
  });
  const bodies = await world.db.query<{ body: Buffer }>(
    'SELECT body FROM events WHERE object_id = ?',
    [payout.id],
  );
  const said = bodies.map(({ body }) => body.toString()).join();
  expect(said).not.toMatch(/screen|sanction|block/i);
});

/** Every source has answered about the payout in the queue. */
const whenAsked = (payout: PayoutCase) =>
  waitFor('the answer', async () => (await answersOf(payout)).length > 0 || undefined);

const blocked = () =>
  createPayoutCase(world, {
    request: {
      destination: { type: 'crypto_address', value: SCREENING_SCENARIOS.block.tron, memo: null },
    },
  });

test('a payout is asked about when it enters the queue, and the queue has the verdict', async () => {
  const payout = await blocked();
  await whenAsked(payout);
  expect(await answersOf(payout)).toMatchObject([{ source: 'service', verdict: 'block' }]);
  expect(await readPayout(world, payout)).toMatchObject({ status: 'under_review' });
  expect(await findReviewed(world.db, [payout.id])).toMatchObject([{ screening: 'block' }]);
  await payout.handle.signal('reject', { by: 'carol' });
  expect(await whenOver(payout)).toBe('rejected');
});

test.each(['a signal', 'the console'])(
  'an approval of a blocked payout by %s rejects it, and the merchant sees no approval',
  async (by) => {
    const payout = await blocked();
    if (by === 'a signal') await payout.handle.signal('approve', { by: 'alice' });
    else {
      const { id: userId } = await makeUser(world.db, 'operator', 'reviewer');
      const id = newId('decision');
      const order = { id, payoutId: payout.id, kind: 'approve', userId, reason: null } as const;
      await insertDecision(world.db, order);
      expect(
        await payout.handle.executeUpdate('decide', { args: [id] as [unknown], updateId: id }),
      ).toEqual({ kind: 'blocked' });
    }
    expect(await whenOver(payout)).toBe('rejected');
    expect(await readRecords(world, payout)).toMatchObject({
      events: ['payout.requested', 'payout.rejected'],
      available: FUNDS,
      reserved: '0.00000000',
      timesSent: 0,
    });
    expect(await casesOf(payout)).toMatchObject([
      {
        kind: 'screening_blocked',
        details: { answers: [{ source: 'service', verdict: 'block' }] },
        resolution: null,
      },
    ]);
  },
);

test('a payout to review is held with the evidence in a case, and can be rejected', async () => {
  const payout = await approvedPayout('review');
  await whenDetails(payout, /Waiting for an operator to decide: The screening/);
  expect(await readPayout(world, payout)).toMatchObject({ submissionStartedAt: null });
  expect(await readSearchAttributes(payout)).toMatchObject({ NeedsAttention: true });
  const reasons = ['Received 12 % of its funds from a mixer.', 'First seen 3 days ago.'];
  expect(await casesOf(payout)).toMatchObject([
    {
      kind: 'screening_review',
      details: { answers: [{ source: 'service', verdict: 'review', reasons }] },
      resolution: null,
    },
  ]);
  await payout.handle.signal('reject', { by: 'carol' });
  expect(await whenOver(payout)).toBe('rejected');
  expect(await readRecords(world, payout)).toMatchObject({ available: FUNDS, timesSent: 0 });
  expect(await casesOf(payout)).toMatchObject([{ resolution: 'The payout was rejected.' }]);
});

test.each(['limited', 'error_5xx', 'slow'] as const)(
  'a payout waits for a service with trouble (%s), and is sent after its answer',
  async (scenario) => {
    const payout = await approvedPayout(scenario);
    expect(await whenOver(payout)).toBe('completed');
    // An approval before the first answer asks again.
    const verdicts = (await answersOf(payout)).map(({ verdict }) => verdict);
    expect([...new Set(verdicts)]).toEqual(['clear']);
    expect(await readRecords(world, payout)).toMatchObject({ timesSent: 1 });
  },
);

test.each([
  ['hangs', /The screening service did not answer within/],
  ['nonsense', /The screening service answered with status 200. The answer is not valid JSON/],
  ['unknown_verdict', /The screening service answered with an unknown verdict/],
] as const)('nothing is sent without an answer (%s)', async (scenario, why) => {
  const payout = await approvedPayout(scenario);
  await whenDetails(payout, why);
  await payout.handle.signal('providerUpdate');
  await whenDetails(payout, why);
  expect(await readPayout(world, payout)).toMatchObject({
    status: 'approved',
    submissionStartedAt: null,
  });
  expect(await answersOf(payout)).toEqual([]);
  await payout.handle.signal('reject', { by: 'carol' });
  expect(await whenOver(payout)).toBe('rejected');
  expect(await readRecords(world, payout)).toMatchObject({ available: FUNDS, timesSent: 0 });
});

const OPERATOR = { actor: 'olga@example.com', reason: 'known exchange', via: 'console' } as const;

/** Held for a review, and what an operator sees of it. */
async function heldPayout(): Promise<{ payout: PayoutCase; seen: string }> {
  const payout = await approvedPayout('review');
  await whenDetails(payout, /Waiting for an operator to decide: The screening/);
  const { seen, hold } = await world.screenings.read(payout.id);
  expect(hold).toMatchObject({ kind: 'review' });
  return { payout, seen: seen ?? '' };
}

test('an operator allows a held payout, and it is sent', async () => {
  const { payout, seen } = await heldPayout();
  await world.screenings.allow(OPERATOR, payout.id, seen);
  expect(await whenOver(payout)).toBe('completed');
  expect(await readRecords(world, payout)).toMatchObject({ timesSent: 1 });
  expect(await casesOf(payout)).toMatchObject([
    { resolution: 'Allowed by olga@example.com: known exchange' },
  ]);
  // It was asked once: the decision is about that answer.
  expect(await answersOf(payout)).toHaveLength(1);
});

test('an allowance without the wake-up continues with restart-missing', async () => {
  const { payout, seen } = await heldPayout();
  await world.db.query(
    `INSERT INTO screening_allowances (payout_id, answers_seen, allowed_by, reason)
     VALUES (?, ?, 'olga', 'known')`,
    [payout.id, seen],
  );
  await restartMissing(world, payout);
  expect(await whenOver(payout)).toBe('completed');
});

test('an operator allows only what the operator saw', async () => {
  const { payout, seen } = await heldPayout();
  expect(await world.screenings.askAgain(OPERATOR, payout.id)).toMatchObject({ kind: 'review' });
  await expect(world.screenings.allow(OPERATOR, payout.id, seen)).rejects.toThrow(
    'its screening has new answers',
  );
  expect(await readPayout(world, payout)).toMatchObject({ submissionStartedAt: null });
  const { seen: newest } = await world.screenings.read(payout.id);
  await world.screenings.allow(OPERATOR, payout.id, newest ?? '');
  expect(await whenOver(payout)).toBe('completed');
});

test('of an allowance and a rejection at the same time, one wins', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { payout, seen } = await heldPayout();
    await Promise.all([
      world.screenings.allow(OPERATOR, payout.id, seen).catch(() => undefined),
      payout.handle.signal('reject', { by: 'carol' }),
    ]);
    const end = await whenOver(payout);
    expect(['completed', 'rejected']).toContain(end);
    const isSent = end === 'completed';
    expect(await readRecords(world, payout)).toMatchObject({
      timesSent: isSent ? 1 : 0,
      reserved: '0.00000000',
      ...(isSent ? {} : { available: FUNDS }),
    });
  }
});

const LIST = { name: 'watched', format: 'addresses', verdict: 'block' } as const;
const ADMIN = { actor: 'alice', reason: null } as const;

test('a list that is imported while a payout waits blocks it', async () => {
  const payout = await approvedPayout('nonsense');
  await whenDetails(payout, /The answer is not valid JSON/);
  const text = `${SCREENING_SCENARIOS.nonsense.tron} # mixer`;
  await importList(world.db, ADMIN, { ...LIST, text });
  try {
    await payout.handle.signal('wake');
    expect(await whenOver(payout)).toBe('rejected');
    expect(await answersOf(payout)).toEqual([
      { source: 'watched', verdict: 'block', reasons: ['The address is on this list: mixer.'] },
    ]);
    expect(await readRecords(world, payout)).toMatchObject({ available: FUNDS, timesSent: 0 });
  } finally {
    await removeSource(world.db, ADMIN, 'watched');
  }
});

test('a payout goes on when the list that held it no longer has its address', async () => {
  const address = 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8';
  const list = { ...LIST, verdict: 'review' } as const;
  await importList(world.db, ADMIN, { ...list, text: address });
  try {
    const payout = await createPayoutCase(world, {
      request: { destination: { type: 'crypto_address', value: address, memo: null } },
    });
    await payout.handle.signal('approve', { by: 'alice' });
    await whenDetails(payout, /Waiting for an operator to decide: The screening/);
    await importList(world.db, ADMIN, { ...list, text: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb' });
    expect(await world.screenings.askAgain(OPERATOR, payout.id)).toEqual({ kind: 'clear' });
    expect(await whenOver(payout)).toBe('completed');
    expect(await casesOf(payout)).toMatchObject([{ resolution: 'A later answer is clear.' }]);
  } finally {
    await removeSource(world.db, ADMIN, 'watched');
  }
});

test('the ledger is sound after the screening', async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
