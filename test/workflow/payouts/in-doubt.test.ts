/** A payout of which nobody knows whether the provider has it (decisions/payouts#payouts-in-doubt). */
import { amount } from '../../../src/domain/money';
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { control, readBookEntry } from '../../support/servers/sandbox';
import { brokenInvariants } from '../../support/servers/gateway';
import {
  createPayoutCase,
  type PayoutCase,
  readRecords,
  readDetails,
  readHistory,
  readSearchAttributes,
  whenDetails,
  whenOver,
  whenPayoutRow,
} from '../../support/payout/payout-case';
import { providerQueue } from '../../../workflows/names';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { started } from '../../support/started';

const CALLS_PER_SECOND = 2;
const LIMITED_QUEUE = providerQueue({ provider: 'exchange_pay', mode: 'test' });

const world = started(() => startWorkflowWorld('payouts', { [LIMITED_QUEUE]: CALLS_PER_SECOND }));

async function setOutage(kind: string | null): Promise<void> {
  const side = { provider: 'onchain_provider', mode: 'live' };
  expect(await control(world.sandbox.url, 'outage', { ...side, kind })).toBe(200);
}

/** Approved while the provider is down. */
async function createInDoubt(): Promise<PayoutCase> {
  const payout = await createPayoutCase(world);
  await setOutage('answer_503');
  await payout.handle.signal('approve', { by: 'alice' });
  await whenPayoutRow(world, payout, 'in doubt', ({ inDoubtSince }) => inDoubtSince !== null);
  await whenDetails(payout, /It is not known whether the provider has the payout: /);
  return payout;
}

/** Moves the beginning back, so that the time has just passed the next threshold. */
async function setBack(payout: PayoutCase, column: string, interval: string): Promise<void> {
  await world.db.query(`UPDATE payouts SET ${column} = now() - ?::interval WHERE id = ?`, [
    interval,
    payout.id,
  ]);
  await payout.handle.signal('providerUpdate');
}

const ESCALATION = [
  { interval: '16 minutes', level: 1, minutes: 15 },
  { interval: '121 minutes', level: 2, minutes: 120 },
  { interval: '25 hours', level: 3, minutes: 1440 },
];

test.each(ESCALATION)('in doubt for $interval: attention level $level', async (expected) => {
  const { interval, level, minutes } = expected;
  const payout = await createInDoubt();
  expect(await readSearchAttributes(payout)).toMatchObject({ NeedsAttention: false });
  await setBack(payout, 'in_doubt_since', interval);
  const details = await whenDetails(payout, /Needs attention/);
  expect(details).toContain(`level ${level} of 3`);
  expect(details).toContain(`This has taken more than ${minutes} minutes.`);
  await whenPayoutRow(world, payout, 'escalated', (row) => row.attentionLevel === level);
  expect(await readSearchAttributes(payout)).toMatchObject({
    NeedsAttention: true,
    PayoutStatus: 'approved',
  });

  await setOutage(null);
  await payout.handle.signal('providerUpdate');
  expect(await whenOver(payout)).toBe('completed');
  expect(await readSearchAttributes(payout)).toMatchObject({ NeedsAttention: false });
  expect(await readDetails(payout)).not.toContain('Needs attention');
  expect(await readRecords(world, payout)).toMatchObject({ reserved: '0.00000000', timesSent: 1 });
});

test('the level never falls while the doubt lasts', async () => {
  const payout = await createInDoubt();
  await setBack(payout, 'in_doubt_since', '25 hours');
  await whenDetails(payout, /level 3 of 3/);
  await setBack(payout, 'in_doubt_since', '5 minutes');
  await payout.handle.signal('reject', { by: 'bob' });
  const details = await whenDetails(payout, /`reject` had no effect/);
  expect(details).toContain('level 3 of 3');
  await setOutage(null);
  await payout.handle.signal('providerUpdate');
  expect(await whenOver(payout)).toBe('completed');
});

test('a rejection in doubt returns no funds', async () => {
  const payout = await createInDoubt();
  await payout.handle.signal('reject', { by: 'bob' });
  await whenDetails(
    payout,
    /`reject` had no effect: the payout was already submitted to the provider/,
  );
  const records = await readRecords(world, payout);
  expect(records).toMatchObject({ status: 'approved', postings: ['payout_reserve'] });
  await setOutage(null);
  await payout.handle.signal('providerUpdate');
  expect(await whenOver(payout)).toBe('completed');
});

test('a transfer that never ends escalates too', async () => {
  const payout = await createPayoutCase(world, { scenario: 'never_settles' });
  await payout.handle.signal('approve', { by: 'alice' });
  await whenPayoutRow(world, payout, 'processing', ({ status }) => status === 'processing');
  await setBack(payout, 'processing_since', '3 hours');
  await whenDetails(
    payout,
    /level 2 of 3[^]*complete the transfer\. This has taken more than 120 minutes/,
  );
  expect(await readSearchAttributes(payout)).toMatchObject({ NeedsAttention: true });
  const key = { provider: 'onchain_provider', mode: 'live', client_reference: payout.id };
  expect(await control(world.sandbox.url, 'transfers/fail', key)).toBe(200);
  expect(await whenOver(payout)).toBe('failed');
  expect(await readSearchAttributes(payout)).toMatchObject({ NeedsAttention: false });
});

test('another amount at the provider settles nothing and calls an operator', async () => {
  const payout = await createPayoutCase(world);
  const submitted = await world.providers.get('onchain_provider', 'live').submitPayout({
    reference: payout.id,
    amount: amount('11'),
    currency: 'USDT',
    network: 'tron',
    destination: { type: 'crypto_address', value: magicAddress('sends', 'tron'), memo: null },
  });
  expect(submitted.kind).toBe('accepted');
  await payout.handle.signal('approve', { by: 'alice' });
  // The callback of the other transfer may come before anybody has read the answer to the submission.
  await whenDetails(payout, /different (order under this reference|amount or currency on record)/);
  await payout.handle.signal('providerUpdate');
  const details = await whenDetails(payout, /has a different amount or currency on record/);
  expect(details).toContain('level 3 of 3');
  expect(await readSearchAttributes(payout)).toMatchObject({ NeedsAttention: true });

  // It stays so, however often the provider is asked and whatever it says has been sent.
  await payout.handle.signal('providerUpdate');
  await payout.handle.signal('reject', { by: 'bob' });
  await whenDetails(payout, /`reject` had no effect/);
  expect((await readBookEntry(world.sandbox.url, payout.id))?.status).toBe('sent');
  expect(await readRecords(world, payout)).toMatchObject({
    status: 'approved',
    events: ['payout.requested', 'payout.approved'],
    postings: ['payout_reserve'],
  });
  const cases = await world.db.query<{ kind: string; details: unknown }>(
    'SELECT kind, details FROM cases WHERE object_id = ?',
    [payout.id],
  );
  expect(cases).toMatchObject([
    {
      kind: 'transfer_mismatch',
      details: { ours: { amount: '10.00000000' }, theirs: { amount: '11.00000000' } },
    },
  ]);
});

test('429 is neither doubt nor failure: the same reference is submitted again after Retry-After', async () => {
  const payout = await createPayoutCase(world);
  await setOutage('answer_429');
  await payout.handle.signal('approve', { by: 'alice' });
  const details = await whenDetails(payout, /limits the rate of requests/);
  expect(details).toContain('It asked to wait 1 s.');
  expect(details).not.toContain('Needs attention');
  const { submissionStartedAt } = await whenPayoutRow(world, payout, 'begun', () => true);
  expect(submissionStartedAt).not.toBeNull();

  await setOutage(null);
  expect(await whenOver(payout)).toBe('completed');
  const row = await whenPayoutRow(world, payout, 'over', () => true);
  expect(row).toMatchObject({ inDoubtSince: null, attentionLevel: 0 });
  expect(await readRecords(world, payout)).toMatchObject({ reserved: '0.00000000', timesSent: 1 });
  expect(await readBookEntry(world.sandbox.url, payout.id)).toMatchObject({ submissions: 1 });
  const cases = await world.db.query('SELECT 1 FROM cases WHERE object_id = ?', [payout.id]);
  expect(cases).toEqual([]);

  const { events } = await readHistory(payout);
  const timers = (events ?? [])
    .filter((event) => event.timerStartedEventAttributes != null)
    .map(({ userMetadata }) => userMetadata?.summary?.data?.toString() ?? '');
  expect(timers).toContain('"Submit again: the provider limits the rate of requests"');
});

test('429 while a payout is in doubt says nothing about it', async () => {
  const payout = await createInDoubt();
  await setOutage('answer_429');
  await payout.handle.signal('providerUpdate');
  await whenDetails(payout, /limits the rate of requests/);
  await setBack(payout, 'in_doubt_since', '16 minutes');
  const details = await whenDetails(payout, /level 1 of 3/);
  expect(details).toContain('limits the rate of requests');
  await setOutage(null);
  expect(await whenOver(payout)).toBe('completed');
  expect(await readRecords(world, payout)).toMatchObject({ timesSent: 1 });
});

test('the calls to a provider have a task queue of their own, whose rate Temporal holds', async () => {
  const destination = { type: 'exchange_id', value: '123456789', memo: null } as const;
  const request = { destination, network: null };
  const payouts = await Promise.all(
    Array.from({ length: 8 }, () => createPayoutCase(world, { mode: 'test', request })),
  );
  await Promise.all(payouts.map(whenOver));
  const startedAt = await Promise.all(payouts.map(submittedAt));
  const tookMs = Math.max(...startedAt) - Math.min(...startedAt);
  // Two calls per second. Each of the four partitions of the queue takes one at once, and the rate
  // may be learnt after the first calls.
  expect(tookMs).toBeGreaterThan(1_500);
});

async function submittedAt(payout: PayoutCase): Promise<number> {
  const { events } = await readHistory(payout);
  const scheduled = (events ?? []).find(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'submitPayout',
  );
  expect(scheduled?.activityTaskScheduledEventAttributes?.taskQueue?.name).toBe(LIMITED_QUEUE);
  const started = (events ?? []).find(
    ({ activityTaskStartedEventAttributes: one }) =>
      one?.scheduledEventId?.toString() === scheduled?.eventId?.toString(),
  );
  return Number(started?.eventTime?.seconds) * 1_000 + (started?.eventTime?.nanos ?? 0) / 1e6;
}

test('the ledger is sound after the doubts', async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
