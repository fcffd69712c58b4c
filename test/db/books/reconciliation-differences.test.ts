/**
 * In what a provider's statement may differ from ours, and what is no difference: rows of ours beside
 * the copy of theirs. test/crash/reconciliation.test.ts makes the copy from a provider.
 */
import { noteDifferences } from '../../../activities/reconciliation/note-differences';
import { verifyStatements } from '../../../src/db/ledger/ledger-verify';
import { listCases, resolveCase } from '../../../src/db/cases/cases';
import { voidVanished } from '../../../src/db/books/provider-statements';
import { DIFFERENCE_KINDS, type DifferenceKind } from '../../../src/domain/cases';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import {
  ago,
  came,
  credit,
  credited,
  type Make,
  MINUTE_MS,
  PAYIN,
  refund,
  refundedThere,
  sent,
  sentElsewhere,
  sentTwice,
  startBooks,
  theyShow,
  TWO_HOURS_MS,
  unknown,
} from './statement-rows';
import { started } from '../../support/started';

const books = started(startBooks);

/** A null kind is no difference. */
type Case = [what: string, kind: DifferenceKind | null, make: Make];

const YOUNG = { changedAt: ago(MINUTE_MS) };
const OPEN_WINDOW = { expires_at: ago(-TWO_HOURS_MS) };
const CLOSED_WINDOW = { expires_at: ago(TWO_HOURS_MS) };
const PART = { amount: amount('2') };

const PAYOUT_CASES: Case[] = [
  ['a transfer of which we know nothing', 'unknown_transfer', unknown({ reference: 'po_nobody' })],
  [
    'a payout’s transfer at another provider',
    'unknown_transfer',
    sentElsewhere('completed', { provider: 'exchange_pay' }),
  ],
  [
    'a payout’s transfer in the other mode',
    'unknown_transfer',
    sentElsewhere('approved', { mode: 'live' }),
  ],
  ['an unknown transfer that failed', null, unknown({ reference: 'po_nobody', state: 'void' })],
  [
    'another amount than the payout’s',
    'transfer_mismatch',
    sent('completed', { amount: amount('10.00000001') }),
  ],
  [
    'another currency than the payout’s',
    'transfer_mismatch',
    sent('completed', { currency: 'USDC' }),
  ],
  ['two transfers for one payout', 'sent_twice', sentTwice()],
  ['a second transfer that failed', null, sentTwice({ state: 'void' })],
  [
    'a completed payout that failed there',
    'completed_but_not_sent',
    sent('completed', { state: 'void' }),
  ],
  [
    'a completed payout that is still pending there',
    'completed_but_not_sent',
    sent('completed', { state: 'pending' }),
  ],
  [
    'a payout that completed after its provider was asked',
    null,
    sent('completed', { state: 'pending' }, ago(MINUTE_MS)),
  ],
  [
    'a completed payout of which they were asked and know nothing',
    'completed_but_not_sent',
    sent('completed', { id: '', state: 'void' }),
  ],
  ...(['failed', 'rejected', 'cancelled'] as const).flatMap((status): Case[] => [
    [`a ${status} payout that was sent`, 'sent_after_return_of_funds', sent(status)],
    [
      `a ${status} payout that is pending there`,
      'pending_after_return_of_funds',
      sent(status, { state: 'pending' }),
    ],
    [`a ${status} payout that failed there`, null, sent(status, { state: 'void' })],
  ]),
  ...(['under_review', 'approved', 'processing'] as const).flatMap((status): Case[] => [
    [
      `a payout that was sent two hours ago and is ${status}`,
      'sent_but_not_completed',
      sent(status),
    ],
    [`a payout that was sent a minute ago and is ${status}`, null, sent(status, YOUNG)],
  ]),
];

const PAYMENT_CASES: Case[] = [
  [
    'money for a payment that does not exist',
    'money_without_payment',
    unknown({ ...PAYIN, reference: newId('payment') }),
  ],
  [
    'money that came a minute ago for a payment that does not exist yet',
    null,
    unknown({ ...PAYIN, ...YOUNG, reference: newId('payment') }),
  ],
  ...(['failed', 'expired', 'completed', 'refunded'] as const).map((status): Case => [
    `confirmed money that a ${status} payment was not credited with`,
    'money_not_credited',
    came(status, {}, {}),
  ]),
  ['a part of the money while the window is open', null, came('processing', OPEN_WINDOW, PART)],
  [
    'a part of the money long after the window closed',
    'money_not_credited',
    came('processing', CLOSED_WINDOW, PART),
  ],
  [
    'a part of the money while the rest is on its way',
    null,
    came('processing', CLOSED_WINDOW, PART, { amount: amount('3'), state: 'pending' }),
  ],
  ['money that they hold', null, came('on_hold', CLOSED_WINDOW, { held: true })],
  [
    'money that went back before it was credited',
    null,
    came('refunded', {}, {}, { kind: 'refund' }),
  ],
  ['a credit as they have it', null, credit()],
  ['a credit whose transfer vanished', 'credited_but_not_received', credit({ state: 'void' })],
  [
    'a credit whose transfer was confirmed after they were asked',
    null,
    credit({ state: 'pending' }, ago(MINUTE_MS)),
  ],
  [
    'a credit whose transfer is not in its checkout any more',
    'credited_but_not_received',
    async (own) => {
      const reference = await credited(own, {}, ago(MINUTE_MS));
      const statement = { provider: 'onchain_provider', mode: 'test' } as const;
      await voidVanished(own.app, statement, ago(-MINUTE_MS), [reference]);
      return [reference];
    },
  ],
  ['a credit of another amount', 'credit_mismatch', credit({ amount: amount('4.99999999') })],
  ['a credit in another currency', 'credit_mismatch', credit({ currency: 'BTC' })],
  ['a refund that we have too', null, refund({ amount: amount('1') })],
  ['a refund of another amount', 'refund_mismatch', refund(PART)],
  ['a refund that vanished', 'refund_mismatch', refund({ amount: amount('1'), state: 'void' })],
  ['a refund that was never taken back', 'refund_not_recorded', refundedThere()],
  ['a refund of a minute ago', null, refundedThere(YOUNG)],
];
const CASES = [...PAYOUT_CASES, ...PAYMENT_CASES];

test.each(CASES)('%s: %s', async (_what, kind, make) => {
  const { app } = books;
  const before = (await verifyStatements(app)).broken;
  const objects = await make(books);
  await noteDifferences(app);
  const open = await listCases(app, false, 1_000);
  const found = open.filter(({ objectId }) => objects.includes(objectId));
  expect(found.map((one) => one.kind)).toEqual(kind === null ? [] : [kind]);
  expect((await verifyStatements(app)).broken).toBe(before + (kind === null ? 0 : 1));
  // What already has a case is not reported again.
  expect(await noteDifferences(app)).toEqual({ noted: 0 });
});

test('the decision about two transfers of a payout hides no third one, although that is older', async () => {
  const { app } = books;
  const [reference] = await sentTwice()(books);
  await noteDifferences(app);
  const openOf = async () =>
    (await listCases(app, false, 1_000)).find(({ objectId }) => objectId === reference);
  const page = (await openOf())!;
  expect(page.facts).toHaveLength(2);
  const { id } = await theyShow(books, { reference: reference! });
  const decide = (one: { id: string; facts: unknown[] }) =>
    app.transaction((tx) => resolveCase(tx, one.id, one.facts.length, 'returned by hand'));
  expect(await decide(page)).not.toBeNull();
  await noteDifferences(app);
  const third = (await openOf())!;
  expect(third.facts).toEqual([expect.objectContaining({ id })]);
  // One that is noted before the click makes the form stale.
  await theyShow(books, { reference: reference! });
  await noteDifferences(app);
  expect(await decide(third)).toBeNull();
});

test('no kind of difference goes without a case', () => {
  const shown = new Set(CASES.flatMap(([, kind]) => kind ?? []));
  expect(shown).toEqual(new Set(DIFFERENCE_KINDS));
});
