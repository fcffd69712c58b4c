/** Decisions that signed-in operators make in the console, as an update of the payout's workflow. */
import {
  insertDecision,
  listDecisions,
  readFourEyes,
} from '../../../src/db/payouts/payout-decisions';
import { amount } from '../../../src/domain/money';
import type { DecisionKind } from '../../../src/domain/payout-decision';
import { newId } from '../../../src/platform/lib/new-id';
import { disableUser } from '../../../src/features/people/users';
import { FaultPlan } from '../../support/chaos/activity-faults';
import { makeUser, type TestUser } from '../../support/merchant/page-client';
import {
  type CaseOptions,
  createPayoutCase,
  type PayoutCase,
  readDetails,
  readPayout,
  readRecords,
  readTaskFailures,
  whenDetails,
  whenOver,
} from '../../support/payout/payout-case';
import { CONSOLE_URL, startWorkflowWorld } from '../../support/servers/workflow-world';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const world = started(sharedInRoom('world', () => startWorkflowWorld('payouts')));
let alice: TestUser;
let bob: TestUser;

beforeAll(async () => {
  alice = await makeUser(world.db, 'operator', 'reviewer');
  bob = await makeUser(world.db, 'operator', 'admin');
  await world.db.query(`INSERT INTO four_eyes_thresholds VALUES ('USDT', 500)`);
});

async function decision(
  { id: payoutId }: PayoutCase,
  kind: DecisionKind,
  { id: userId }: TestUser,
  reason: string | null = null,
): Promise<string> {
  const id = newId('decision');
  await insertDecision(world.db, { id, payoutId, kind, userId, reason });
  return id;
}

function send({ handle }: PayoutCase, decisionId: string): Promise<unknown> {
  return handle.executeUpdate('decide', { args: [decisionId], updateId: decisionId });
}

async function decide(
  payout: PayoutCase,
  kind: DecisionKind,
  user: TestUser,
  reason: string | null = null,
): Promise<unknown> {
  return send(payout, await decision(payout, kind, user, reason));
}

const aboveThreshold = (options: CaseOptions = {}) =>
  createPayoutCase(world, { ...options, request: { amount: amount('600') } });

const outcomes = async ({ id }: PayoutCase) =>
  (await listDecisions(world.db, id)).map(({ outcome }) => outcome);

async function expectSentOnce(payout: PayoutCase): Promise<void> {
  expect(await whenOver(payout)).toBe('completed');
  expect(await readRecords(world, payout)).toMatchObject({
    events: ['payout.requested', 'payout.approved', 'payout.processing', 'payout.completed'],
    reserved: '0.00000000',
    timesSent: 1,
  });
  expect(await readTaskFailures(payout)).toEqual([]);
}

test.concurrent(
  'an approval answers at once, and the operator is the one who signed in',
  async () => {
    const payout = await createPayoutCase(world);
    expect(await readDetails(payout)).toContain(
      `[Open in the console](${CONSOLE_URL}/payouts/${payout.id})`,
    );
    const id = await decision(payout, 'approve', alice);
    expect(await Promise.all([send(payout, id), send(payout, id)])).toEqual([
      { kind: 'applied' },
      { kind: 'applied' },
    ]);
    expect(await readPayout(world, payout)).toMatchObject({ decidedBy: alice.email });
    await expectSentOnce(payout);
    expect(await outcomes(payout)).toEqual(['applied']);
  },
);

test.concurrent('a rejection has its reason and returns the funds', async () => {
  const payout = await aboveThreshold();
  expect(await decide(payout, 'reject', bob, 'sanctions hit')).toEqual({ kind: 'applied' });
  expect(await whenOver(payout)).toBe('rejected');
  expect(await readPayout(world, payout)).toMatchObject({
    decidedBy: bob.email,
    rejectionReason: 'sanctions hit',
  });
  const audit = await world.db.query(
    'SELECT actor, action, reason FROM audit_log WHERE object_id = ?',
    [payout.id],
  );
  expect(audit).toEqual([{ actor: bob.email, action: 'payout.reject', reason: 'sanctions hit' }]);
});

test.concurrent('two operators approve at once: one decides, and the other reads so', async () => {
  const payout = await createPayoutCase(world);
  const answers = await Promise.all([
    decide(payout, 'approve', alice),
    decide(payout, 'approve', bob),
  ]);
  expect(answers).toContainEqual({ kind: 'applied' });
  expect(answers.filter((answer) => (answer as { kind: string }).kind === 'applied')).toHaveLength(
    1,
  );
  await expectSentOnce(payout);
});

test.concurrent('approve against reject at once: the records agree with what counted', async () => {
  const payout = await createPayoutCase(world);
  await Promise.all([decide(payout, 'approve', alice), decide(payout, 'reject', bob)]);
  // An approved payout can still be rejected until it is submitted.
  const wasRejected = (await whenOver(payout)) === 'rejected';
  expect((await readPayout(world, payout)).decidedBy).toBe(wasRejected ? bob.email : alice.email);
  expect(await readRecords(world, payout)).toMatchObject({
    reserved: '0.00000000',
    timesSent: wasRejected ? 0 : 1,
  });
});

describe('above the threshold', () => {
  test.concurrent(
    'two operators approve; a signal, a key’s creator and a second tab do not',
    async () => {
      const payout = await aboveThreshold();
      const creator = await makeUser(world.db, 'operator', 'admin');
      await world.db.query(
        `INSERT INTO audit_log (actor, action, object, object_id) VALUES (?, 'api_key.create', 'api_key', ?)`,
        [creator.email.toUpperCase(), payout.caller.apiKeyId],
      );
      expect(await readDetails(payout)).not.toContain('--name approve');
      await payout.handle.signal('approve', { by: bob.email });
      await whenDetails(
        payout,
        /`approve` by .* had no effect: this amount requires the approval of two operators/,
      );
      expect(await decide(payout, 'approve', creator)).toEqual({ kind: 'key_creator' });
      const tabs = await Promise.all([
        decide(payout, 'approve', alice),
        decide(payout, 'approve', alice),
      ]);
      expect(tabs).toContainEqual({ kind: 'counted' });
      expect(tabs).toContainEqual({ kind: 'same_operator' });
      expect(await readDetails(payout)).toContain('in the console: 1 of 2.');
      await payout.handle.signal('approve', { by: alice.email });
      expect((await readPayout(world, payout)).status).toBe('under_review');
      expect(await decide(payout, 'approve', bob)).toEqual({ kind: 'applied' });
      expect(await readPayout(world, payout)).toMatchObject({ decidedBy: bob.email });
      await expectSentOnce(payout);
      expect(await decide(payout, 'approve', alice).catch(() => 'closed')).toBe('closed');
    },
  );

  test.concurrent('two of whom one brought in the other do not make two', async () => {
    const payout = await aboveThreshold();
    const hat = await makeUser(world.db, 'operator', 'reviewer');
    await world.db.query(
      `INSERT INTO audit_log (actor, action, object, object_id, after)
       VALUES (?, 'user.join', 'user', ?, jsonb_build_object('proposed_by', ?::text))`,
      [hat.email, hat.id, alice.email.toUpperCase()],
    );
    expect(await decide(payout, 'approve', alice)).toEqual({ kind: 'counted' });
    expect(await decide(payout, 'approve', hat)).toEqual({ kind: 'related_operator' });
    // Nor when the programs forget to ask: the guard of the transition counts one.
    await world.db.query(
      `UPDATE payout_decisions SET outcome = 'counted' WHERE payout_id = ? AND user_id = ?`,
      [payout.id, hat.id],
    );
    expect(await readFourEyes(world.db, payout.id)).toMatchObject({ approvals: 1 });
    expect((await readPayout(world, payout)).status).toBe('under_review');
    expect(await decide(payout, 'approve', bob)).toEqual({ kind: 'applied' });
    await expectSentOnce(payout);
  });

  test.concurrent('two operators at the same moment approve it once', async () => {
    const payout = await aboveThreshold();
    const answers = await Promise.all([
      decide(payout, 'approve', alice),
      decide(payout, 'approve', bob),
    ]);
    expect(answers).toContainEqual({ kind: 'counted' });
    expect(answers).toContainEqual({ kind: 'applied' });
    await expectSentOnce(payout);
  });

  test.concurrent('an approval of somebody who left does not count', async () => {
    const payout = await aboveThreshold();
    const leaver = await makeUser(world.db, 'operator', 'reviewer');
    expect(await decide(payout, 'approve', leaver)).toEqual({ kind: 'counted' });
    const late = await decision(payout, 'approve', leaver);
    await disableUser(world.db, { actor: 'test', reason: null }, 'operator', leaver.email, true);
    expect(await send(payout, late)).toEqual({ kind: 'not_allowed' });
    expect(await decide(payout, 'approve', bob)).toEqual({ kind: 'counted' });
    const viewer = await makeUser(world.db, 'operator', 'viewer');
    expect(await decide(payout, 'approve', viewer)).toEqual({ kind: 'not_allowed' });
    // A signal can still reject.
    await payout.handle.signal('reject', { by: 'carol' });
    expect(await whenOver(payout)).toBe('rejected');
  });

  test.concurrent.each(['loses_result', 'runs_twice'] as const)(
    'approvals whose step %s count once each',
    async (kind) => {
      const plan = new FaultPlan(kind, 'decidePayout');
      const payout = await aboveThreshold({ plan });
      expect(await decide(payout, 'approve', alice)).toEqual({ kind: 'counted' });
      expect(plan.struck).toContain('decidePayout');
      expect(await decide(payout, 'approve', bob)).toEqual({ kind: 'applied' });
      await expectSentOnce(payout);
    },
  );
});

test.concurrent.each<[string, unknown]>([
  ['a name', 'alice@example.com'],
  ['an object', { by: 'alice@example.com' }],
  ['nothing', undefined],
])('an update that is typed with %s is refused', async (_what, input) => {
  const payout = await createPayoutCase(world);
  await expect(
    payout.handle.executeUpdate('decide', { args: [input as string] }),
  ).rejects.toMatchObject({
    cause: { message: '`decide` requires the id of a decision that was made in the console.' },
  });
  expect(await send(payout, newId('decision'))).toEqual({ kind: 'unknown' });
  const other = await createPayoutCase(world);
  expect(await send(payout, await decision(other, 'approve', alice))).toEqual({ kind: 'unknown' });
  const old = await decision(payout, 'approve', alice);
  await world.db.query(
    `UPDATE payout_decisions SET created_at = now() - interval '6 minutes' WHERE id = ?`,
    [old],
  );
  expect(await send(payout, old)).toEqual({ kind: 'expired' });
  expect((await readPayout(world, payout)).status).toBe('under_review');
  await payout.handle.terminate();
  await other.handle.terminate();
});
