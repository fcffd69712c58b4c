/**
 * What the database demands before a live payout is submitted (decisions/controls#screening): the table of
 * answers, walked on the statement that begins a submission.
 */
import { beginSubmission } from '../../../src/db/payouts/payout-submissions';
import { answerFromList, requireService } from '../../../src/db/screening/screening';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import type { ScreeningSubject } from '../../../src/domain/screening';
import { compose, openTestDatabase } from '../../support/servers/database';
import { buildPayoutMoney, insertPayout, makeAccount } from '../../support/merchant/ledger';
import { started } from '../../support/started';

const ADDRESS = '0x0000000000000000000000000000000000000001';
const database = started(() => openTestDatabase({ owner: 2, app: 2 }));

afterEach(() => database.owner.query('DELETE FROM screening_sources'));

interface Payout {
  id: string;
  key: BalanceKey;
}

async function approvedPayout(mode: 'live' | 'test' = 'live'): Promise<Payout> {
  const key = { accountId: await makeAccount(database.owner), mode, currency: 'USDT' };
  const payout = buildPayoutMoney('1');
  await insertPayout(database.owner, key, payout, 'approved', { destination_value: ADDRESS });
  return { id: payout.id, key };
}

async function begin({ id }: Payout): Promise<string> {
  return (await beginSubmission(database.app, id)).kind;
}

const ANSWER = {
  mode: 'live',
  destination_type: 'crypto_address',
  destination_value: ADDRESS,
  network: 'ethereum' as string | null,
  with_beneficiary: false,
  source: 'service',
  source_version: 1,
  verdict: 'clear',
  hours: 0,
};

/** @returns its id */
async function insertAnswer(
  { id, key }: Payout,
  change: Partial<typeof ANSWER & { object_id: string; account_id: string }> = {},
): Promise<string> {
  const { hours, ...answer } = { ...ANSWER, object_id: id, account_id: key.accountId, ...change };
  const inserted = compose('screening_answers')
    .insert({
      ...answer,
      reasons: [],
      answered_at: compose.raw(`now() - interval '${hours} hours'`),
    })
    .returning('id');
  const [stored] = await database.owner.query<{ id: string }>(inserted);
  return stored!.id;
}

function allow({ id }: Payout, seen: string): Promise<unknown> {
  return database.owner.query(
    `INSERT INTO screening_allowances (payout_id, answers_seen, allowed_by, reason)
     VALUES (?, ?, 'alice', 'known customer')`,
    [id, seen],
  );
}

test('without a source, a live payout is submitted', async () => {
  expect(await begin(await approvedPayout())).toBe('begun');
});

test('with a source, a live payout needs an answer, and a test payout does not', async () => {
  await requireService(database.app);
  const payout = await approvedPayout();
  expect(await begin(payout)).toBe('unscreened');
  await insertAnswer(payout);
  expect(await begin(payout)).toBe('begun');
  expect(await begin(await approvedPayout('test'))).toBe('begun');
});

test.each([
  ['is older than a day', { hours: 25 }],
  ['asks for a review', { verdict: 'review' }],
  ['blocks', { verdict: 'block' }],
  ['is of test mode', { mode: 'test' }],
  ['is about another destination', { destination_value: `${ADDRESS.slice(0, -1)}2` }],
  ['is about another type of destination', { destination_type: 'email' }],
  ['is about another network', { network: 'base' }],
  ['is about no network', { network: null }],
  ['is of another source', { source: 'ofac' }],
  ['is of another version of the source', { source_version: 2 }],
  ['is about the beneficiary of another payout', { with_beneficiary: true, object_id: 'po_other' }],
] as const)('an answer that %s lets nothing through', async (_, change) => {
  await requireService(database.app);
  const payout = await approvedPayout();
  await insertAnswer(payout, change);
  expect(await begin(payout)).toBe('unscreened');
});

test('an answer for another account lets nothing through', async () => {
  await requireService(database.app);
  const payout = await approvedPayout();
  await insertAnswer(await approvedPayout());
  expect(await begin(payout)).toBe('unscreened');
});

test('an answer for another payout of the account counts, unless one of them has a beneficiary', async () => {
  await requireService(database.app);
  const payout = await approvedPayout();
  await insertAnswer(payout, { object_id: 'po_other' });
  await database.owner.query(
    `INSERT INTO payout_beneficiaries (payout_id, sealed, key_id) VALUES (?, 'sealed', 'k')`,
    [payout.id],
  );
  expect(await begin(payout)).toBe('unscreened');
  await database.owner.query('DELETE FROM payout_beneficiaries WHERE payout_id = ?', [payout.id]);
  expect(await begin(payout)).toBe('begun');
});

test('the last answer counts', async () => {
  await requireService(database.app);
  const payout = await approvedPayout();
  await insertAnswer(payout);
  await insertAnswer(payout, { verdict: 'review' });
  expect(await begin(payout)).toBe('unscreened');
});

test('every source has to be clear', async () => {
  await requireService(database.app);
  await database.owner.query(
    `INSERT INTO screening_sources (name, verdict) VALUES ('ofac', 'block')`,
  );
  const payout = await approvedPayout();
  await insertAnswer(payout);
  expect(await begin(payout)).toBe('unscreened');
  await insertAnswer(payout, { source: 'ofac' });
  expect(await begin(payout)).toBe('begun');
});

test('an operator’s allowance counts for its payout and for the answers that were seen', async () => {
  await requireService(database.app);
  const payout = await approvedPayout();
  await allow(await approvedPayout(), await insertAnswer(payout, { verdict: 'review', hours: 25 }));
  expect(await begin(payout)).toBe('unscreened');
  const seen = await insertAnswer(payout, { verdict: 'review', hours: 25 });
  await insertAnswer(payout, { verdict: 'block' });
  await allow(payout, seen);
  expect(await begin(payout)).toBe('unscreened');
  await allow(payout, await insertAnswer(payout, { verdict: 'block', hours: 25 }));
  expect(await begin(payout)).toBe('begun');
});

test('an answer of a list counts until the list is imported again', async () => {
  await database.owner.query(
    `INSERT INTO screening_sources (name, verdict) VALUES ('ofac', 'block')`,
  );
  const payout = await approvedPayout();
  const answer = await answerFromList(database.app, subjectOf(payout), 'ofac', ADDRESS);
  expect(answer).toMatchObject({ verdict: 'clear', source: 'ofac' });
  await database.owner.query('UPDATE screening_sources SET version = version + 1');
  expect(await begin(payout)).toBe('unscreened');
});

function subjectOf({ id, key }: Payout): ScreeningSubject {
  return {
    objectId: id,
    accountId: key.accountId,
    mode: key.mode,
    destination: { type: 'crypto_address', value: ADDRESS },
    network: 'ethereum',
    beneficiary: null,
  };
}
