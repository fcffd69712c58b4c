/** What operators type by hand: whatever it is, the payout's workflow goes on. */
import { readDossierFacts } from '../../../src/db/payouts/payout-dossier';
import { getPayoutBatch } from '../../../src/db/payout-batches/payout-batches';
import { amount } from '../../../src/domain/money';
import { DEFAULT_REJECTION_REASON } from '../../../src/domain/payout';
import { VISIBLE_ACTIONS } from '../../../src/features/audit/audit-log';
import { createBatch } from '../replay/batch-histories';
import { control } from '../../support/servers/sandbox';
import {
  createPayoutCase,
  type PayoutCase,
  readRecords,
  readDetails,
  readTaskFailures,
  readPayout,
  whenDetails,
  whenOver,
  whenPayoutRow,
} from '../../support/payout/payout-case';
import {
  byPage,
  expectRemarks,
  json,
  payload,
  type RawPayload,
  signalRaw,
  type UnusableSignal,
} from '../raw-signal';
import { signalFirst, startWorkflowWorld } from '../../support/servers/workflow-world';
import { started } from '../../support/started';

const SIGNAL_MAX = amount('550');
const world = started(() => startWorkflowWorld('payouts', {}, new Map([['USDT', SIGNAL_MAX]])));

async function expectUnharmed(payout: PayoutCase): Promise<void> {
  expect(await readTaskFailures(payout)).toEqual([]);
}

test.concurrent.each([
  ['approve', 'no input', []],
  ['reject', 'no input', []],
  ['reject', 'an empty object', [json({})]],
  ['approve', 'null', [json(null)]],
  ['reject', 'a null without JSON', [payload('binary/null')]],
  ['approve', 'empty texts', [json({ by: '  ', reason: '' })]],
  ['reject', 'empty texts', [json({ by: '  ', reason: '' })]],
  ['approve', 'members that it does not know', [json({ note: 'hello' })]],
])('%s without a name counts with %s', async (signal, _what, payloads) => {
  const payout = await createPayoutCase(world);
  await signalRaw(world, payout, signal, payloads);
  const decided = signal === 'approve' ? 'completed' : 'rejected';
  expect(await whenOver(payout)).toBe(decided);
  expect(await readPayout(world, payout)).toMatchObject({
    decidedBy: null,
    rejectionReason: signal === 'reject' ? DEFAULT_REJECTION_REASON : null,
  });
  await expectUnharmed(payout);
});

const auditOf = ({ id }: PayoutCase) =>
  world.db.query('SELECT actor, via, action, after, reason FROM audit_log WHERE object_id = ?', [
    id,
  ]);

test.concurrent.each([
  ['approve', 'completed', 'approved'],
  ['reject', 'rejected', 'rejected'],
])(
  '%s is in the audit log and in the dossier, with the name as claimed',
  async (signal, end, status) => {
    const payout = await createPayoutCase(world);
    await payout.handle.signal(signal, { by: 'olivia', reason: 'seen' });
    expect(await whenOver(payout)).toBe(end);
    expect(await auditOf(payout)).toEqual([
      {
        actor: 'olivia (claimed, via signal)',
        via: 'signal',
        action: `payout.${signal}`,
        after: { status, claimed_by: 'olivia' },
        reason: signal === 'reject' ? 'seen' : null,
      },
    ]);
    const dossier = await readDossierFacts(world.db, payout.id, VISIBLE_ACTIONS);
    expect(dossier).toMatchObject({
      review: {
        operators: [
          { operator: 'operator, claimed via signal', decision: signal, outcome: 'applied' },
        ],
      },
      audit: [{ action: `payout.${signal}`, is_own: false }],
    });
    await expectUnharmed(payout);
  },
);

test.concurrent.each([
  ['approve', 'completed', 'processing', null],
  ['reject', 'rejected', 'under_review', 'seen'],
  ['stop', 'stopped', 'under_review', 'seen'],
])(
  '%s of a batch counts for the manifest that was seen, and is in the audit log with the name as claimed',
  async (signal, end, status, reason) => {
    const batch = await createBatch(world);
    const { manifestSha256: manifest } = await getPayoutBatch(world.db, batch.id);
    await batch.handle.signal('approve', { by: 'olivia', manifest: '0'.repeat(64) });
    await whenDetails(batch, /the batch has another manifest/);
    expect((await getPayoutBatch(world.db, batch.id)).status).toBe('under_review');
    expect(await auditOf(batch)).toEqual([]);
    await batch.handle.signal(signal, { by: 'olivia', manifest, reason: 'seen' });
    expect(await whenOver(batch)).toBe(end);
    expect(await auditOf(batch)).toEqual([
      {
        actor: 'olivia (claimed, via signal)',
        via: 'signal',
        action: `payout_batch.${signal}`,
        after: { status, claimed_by: 'olivia' },
        reason,
      },
    ]);
    const rows = await world.db.query<{ status: string }>(
      'SELECT status FROM payouts WHERE batch_id = ?',
      [batch.id],
    );
    const row = signal === 'approve' ? 'completed' : signal === 'reject' ? 'rejected' : 'cancelled';
    expect(rows.map((one) => one.status)).toEqual([row, row, row]);
    await expectUnharmed(batch);
  },
);

test.concurrent(
  'above the amount of the setting, an approval has no effect and the page says what to do',
  async () => {
    const payout = await createPayoutCase(world, { request: { amount: amount('550.00000001') } });
    await payout.handle.signal('approve', { by: 'olivia' });
    await whenDetails(
      payout,
      /above 550.00000000 USDT a signal does not approve alone; sign in to the console and approve it at/,
    );
    expect((await readPayout(world, payout)).status).toBe('under_review');
    expect(await auditOf(payout)).toEqual([]);
    await payout.handle.signal('reject', { by: 'olivia' });
    expect(await whenOver(payout)).toBe('rejected');
    const allowed = await createPayoutCase(world, { request: { amount: SIGNAL_MAX } });
    await allowed.handle.signal('approve', { by: 'olivia' });
    expect(await whenOver(allowed)).toBe('completed');
  },
);

const OBJECT = 'must be a JSON object';
const UNDECODABLE = 'the input cannot be decoded';

/** Half of a surrogate pair: valid JSON, which JSON.stringify in this process would escape too. */
function half(member: string): RawPayload {
  return payload('json/plain', `{"${member}":"\\ud800"}`);
}

const UNUSABLE: UnusableSignal[] = [
  ['a string', 'approve', [json('alice')], OBJECT],
  ['an array', 'approve', [json(['alice'])], OBJECT],
  ['a number', 'reject', [json(42)], OBJECT],
  ['two inputs', 'approve', [json({}), json({})], 'expected one input, received 2'],
  ['a name that is a number', 'approve', [json({ by: 42 })], '"by" must be a name'],
  ['an endless name', 'reject', [json({ by: 'a'.repeat(101) })], '"by" must be a name'],
  ['an endless reason', 'reject', [json({ reason: 'a'.repeat(501) })], '"reason" must be'],
  ['a name that no database takes', 'reject', [half('by')], '"by" must be a name'],
  ['a reason that no database takes', 'reject', [half('reason')], '"reason" must be a text'],
  [
    'a signal that is Markdown',
    '`](https://evil.example) <b>',
    [],
    '`?](https://evil.example)?<b>` was',
  ],
  ['an endless signal', 'a'.repeat(900), [], `\`${'a'.repeat(60)}…\` was ignored`],
  ['a NUL in the reason', 'reject', [json({ reason: 'a\0b' })], '"reason" must be a text'],
  ['JSON that breaks off', 'approve', [payload('json/plain', '{oops')], UNDECODABLE],
  ['JSON without bytes', 'approve', [payload('json/plain')], UNDECODABLE],
  ['an encrypted input', 'approve', [payload('binary/encrypted', 'x'.repeat(64))], UNDECODABLE],
  ['an encoding that nobody knows', 'reject', [payload('yaml/plain', 'by: bob')], UNDECODABLE],
  ['no encoding at all', 'reject', [payload(null, '{}')], UNDECODABLE],
  ['plain bytes', 'reject', [payload('binary/plain', 'bob')], '`reject` was ignored'],
  ['a protobuf', 'approve', [payload('json/protobuf', '{}')], UNDECODABLE],
  ['another signal', 'aprove', [json({ by: 'alice' })], '`aprove` was ignored'],
  ['another case', 'Approve', [], '`Approve` was ignored'],
  ['a reserved name', '__temporal_x', [json({})], 'was ignored'],
  ['an unreadable signal', 'pay', [payload('json/plain', '{oops')], '`pay` was ignored'],
];

test.concurrent.each(byPage(UNUSABLE))(
  '%s: ignored with remarks, and the next signal counts',
  async (_all, signals) => {
    const payout = await createPayoutCase(world);
    await expectRemarks(world, payout, signals);
    expect((await readPayout(world, payout)).status).toBe('under_review');
    await payout.handle.signal('reject', { by: 'carol', reason: 'sanctions hit' });
    expect(await whenOver(payout)).toBe('rejected');
    expect(await readPayout(world, payout)).toMatchObject({
      decidedBy: 'carol',
      rejectionReason: 'sanctions hit',
    });
    await expectUnharmed(payout);
  },
);

test.concurrent('a provider update with unreadable input also wakes the workflow', async () => {
  const payout = await createPayoutCase(world, { scenario: 'callback_lost' });
  await signalRaw(world, payout, 'providerUpdate', [payload('binary/encrypted', 'x')]);
  await payout.handle.signal('approve', { by: 'alice' });
  expect(await whenOver(payout)).toBe('completed');
  await expectUnharmed(payout);
});

test.concurrent('a name that is Markdown is shown as it was typed', async () => {
  const payout = await createPayoutCase(world, { scenario: 'never_settles' });
  await payout.handle.signal('approve', { by: 'alice' });
  const by = '**[bob](https://evil.example)**\n\n# `reject`';
  await payout.handle.signal('reject', { by });
  const details = await whenDetails(payout, /Remarks/);
  expect(details).toContain(
    '\\*\\*\\[bob\\]\\(https\\:\\/\\/evil\\.example\\)\\*\\* \\# \\`reject\\` had no effect',
  );
  await settle(payout);
  await whenOver(payout);
});

test.concurrent('a page without remarks is the rule', async () => {
  const payout = await createPayoutCase(world);
  const details = await readDetails(payout);
  expect(details).toContain(`temporal workflow signal -w ${payout.id} --name approve`);
  expect(details).not.toContain('Remarks');
  await payout.handle.signal('approve', { by: 'alice' });
  await whenOver(payout);
});

const DECIDED = [
  { first: 'approve', second: 'reject', end: 'completed' },
  { first: 'reject', second: 'approve', end: 'rejected' },
  { first: 'approve', second: 'approve', end: 'completed' },
  { first: 'reject', second: 'reject', end: 'rejected' },
] as const;

test('of two signals in one workflow task the first counts', async () => {
  const payouts = await Promise.all(DECIDED.map(() => createPayoutCase(world)));
  // Nobody polls, so both signals wait and arrive together.
  await world.stopWorker();
  for (const [index, { first, second }] of DECIDED.entries()) {
    await payouts[index]!.handle.signal(first, { by: 'alice', reason: 'first' });
    await payouts[index]!.handle.signal(second, { by: 'bob', reason: 'second' });
  }
  await world.startWorker();
  for (const [index, { second, end }] of DECIDED.entries()) {
    const payout = payouts[index]!;
    expect(await whenOver(payout)).toBe(end);
    expect((await readPayout(world, payout)).decidedBy).toBe('alice');
    expect(await readDetails(payout)).toContain(`\`${second}\` by bob had no effect`);
    await expectUnharmed(payout);
  }
});

describe.each(DECIDED)('$first, then $second', ({ first, second, end }) => {
  test.concurrent('one after the other: the first counts', async () => {
    const payout = await createPayoutCase(world, { scenario: 'never_settles' });
    await payout.handle.signal(first, { by: 'alice' });
    const next = end === 'completed' ? 'processing' : 'rejected';
    await whenPayoutRow(world, payout, next, ({ status }) => status === next);
    await payout.handle.signal(second, { by: 'bob' }).catch(() => undefined);
    if (end === 'completed') {
      await whenDetails(payout, /by bob had no effect/);
      await settle(payout);
    }
    expect(await whenOver(payout)).toBe(end);
    expect((await readPayout(world, payout)).decidedBy).toBe('alice');
    await expectUnharmed(payout);
  });
});

test.concurrent(
  'two decisions at the same moment: one counts, and the records agree with it',
  async () => {
    const payouts = await Promise.all([1, 2, 3, 4, 5, 6].map(() => createPayoutCase(world)));
    for (const payout of payouts) {
      const { handle } = payout;
      await Promise.all([
        handle.signal('approve', { by: 'a' }),
        handle.signal('reject', { by: 'r' }),
      ]);
      const { status, reserved, timesSent } = await whenOver(payout).then(() =>
        readRecords(world, payout),
      );
      const by = status === 'completed' ? 'a' : 'r';
      expect((await readPayout(world, payout)).decidedBy).toBe(by);
      expect({ status, reserved, timesSent }).toEqual({
        status: by === 'a' ? 'completed' : 'rejected',
        reserved: '0.00000000',
        timesSent: by === 'a' ? 1 : 0,
      });
      await expectUnharmed(payout);
    }
  },
);

test('a decision that comes before the reservation counts after it', async () => {
  await world.stopWorker();
  const decided = await Promise.all(
    [
      { signal: 'approve', end: 'completed' },
      { signal: 'reject', end: 'rejected' },
    ].map(async ({ signal, end }) => ({
      end,
      creating: await signalFirst(world, signal, (onStart) => createPayoutCase(world, { onStart })),
    })),
  );
  await world.startWorker();
  for (const { end, creating } of decided) {
    const payout = await creating();
    expect(await whenOver(payout)).toBe(end);
    expect((await readPayout(world, payout)).decidedBy).toBe('early');
    expect((await readRecords(world, payout)).events.slice(0, 1)).toEqual(['payout.requested']);
    await expectUnharmed(payout);
  }
});

test('a decision that a lost attempt of the workflow task has applied gets no remark', async () => {
  await world.stopWorker();
  const steps = world.activities;
  const decided = await Promise.all(
    [
      { signal: 'approve', apply: steps.approvePayout, end: 'completed' },
      { signal: 'reject', apply: steps.rejectPayout, end: 'rejected' },
    ].map(async ({ signal, apply, end }) => {
      let payoutId = '';
      const creating = await signalFirst(world, signal, (onStart) =>
        createPayoutCase(world, {
          onStart: (id) => {
            payoutId = id;
            onStart(id);
          },
        }),
      );
      await steps.reservePayout({ payoutId });
      await apply(payoutId, 'early', 'signal');
      return { end, creating };
    }),
  );
  await world.startWorker();
  for (const { end, creating } of decided) {
    const payout = await creating();
    expect(await whenOver(payout)).toBe(end);
    expect((await readPayout(world, payout)).decidedBy).toBe('early');
    expect(await readDetails(payout)).not.toContain('Remarks');
    await expectUnharmed(payout);
  }
});

test.concurrent('a decision after the end finds no workflow and changes nothing', async () => {
  const payout = await createPayoutCase(world);
  await payout.handle.signal('reject', { by: 'alice' });
  await whenOver(payout);
  const before = await readRecords(world, payout);
  await expect(payout.handle.signal('approve', { by: 'bob' })).rejects.toThrow(/completed/);
  expect(await readRecords(world, payout)).toEqual(before);
});

async function settle({ id, caller }: PayoutCase): Promise<void> {
  const body = { provider: 'onchain_provider', mode: caller.mode, client_reference: id };
  expect(await control(world.sandbox.url, 'transfers/settle', body)).toBe(200);
}
