/** Guards of limits, of the rows of a batch together, and of what a refund may take. */
import type { Guard } from '../guard';

const BATCH_RESERVE = 'activities/payout-batch/reserve.ts';
const REFUND_RESERVE = 'activities/payment/reserve-refund.ts';
const REFUNDS = 'activities/payment/refunds.ts';
const RESERVATIONS_TEST = 'test/db/payouts/reservations.test.ts';
const DOUBTS_TEST = 'test/db/payments/payment-doubts.test.ts';
const USAGE_TEST = 'test/db/payouts/payout-usage.test.ts';
const BATCH_TERMS = 'src/domain/batch-terms.ts';
const BATCH_TERMS_TEST = 'test/unit/domain/batch-terms.test.ts';
const REFUND = 'src/domain/refund.ts';
const REFUND_TERMS_TEST = 'test/unit/domain/refund-terms.test.ts';

export const LIMIT_GUARDS: readonly Guard[] = [
  {
    name: 'rows-use-up-the-day',
    protects: 'The rows of a batch add up for the daily limit of the account.',
    file: BATCH_TERMS,
    find: 'usedToday: add(group.usedToday, sum.amount),\n    key',
    replace: 'usedToday: group.usedToday,\n    key',
    test: BATCH_TERMS_TEST,
    title: 'use up the day of the account',
  },
  {
    name: 'rows-use-up-the-key',
    protects: 'The rows of a batch add up for the daily limit of the key.',
    file: BATCH_TERMS,
    find: 'key: { ...group.key, usedToday: add(group.key.usedToday, sum.amount) },',
    replace: '',
    test: BATCH_TERMS_TEST,
    title: 'use up the day of the key',
  },
  {
    name: 'rows-use-up-automatic-approval',
    protects: 'The rows of a batch add up for what is approved automatically in a day.',
    file: BATCH_TERMS,
    find: 'autoApprovedToday: add(group.autoApprovedToday, sum.autoApproved),',
    replace: '',
    test: BATCH_TERMS_TEST,
    title: 'use up what is approved automatically in a day',
  },
  {
    name: 'batch-four-eyes-each-currency',
    protects: 'A batch needs two operators when one of its currencies is above its threshold.',
    file: BATCH_TERMS,
    find: "mode === 'live' && sums.some(isAbove)",
    replace: "mode === 'live' && sums.every(isAbove)",
    test: BATCH_TERMS_TEST,
    title: 'when the sum of one currency is above its threshold',
  },
  {
    name: 'batch-second-person-each-currency',
    protects: 'A batch needs a second person when one of its currencies is above the line.',
    file: BATCH_TERMS,
    find: 'needsSecondPerson: sums.some(',
    replace: 'needsSecondPerson: sums.every(',
    test: BATCH_TERMS_TEST,
    title: 'another person approves a batch whose sum in one currency is above the line',
  },
  {
    name: 'batch-covered-each-currency',
    protects: 'A batch is covered in each of its currencies.',
    file: BATCH_TERMS,
    find: 'const short = sums.find(',
    replace: 'const short = sums.slice(0, 1).find(',
    test: BATCH_TERMS_TEST,
    title: 'are covered by the balance of their currency, to the last unit',
  },
  {
    name: 'batch-reference-of-one-row',
    protects: 'Two rows of a batch do not have the same reference.',
    file: BATCH_TERMS,
    find: 'rowsByReference.set(reference, earlier ?? row.row);',
    replace: '',
    test: BATCH_TERMS_TEST,
    title: 'belongs to one row',
  },
  {
    name: 'refund-within-credit',
    protects: 'No more is refunded than was credited and has not gone back.',
    file: REFUND,
    find: 'if (refundable === ZERO || isLess(refundable, requested)) {',
    replace: 'if (refundable === ZERO) {',
    test: REFUND_TERMS_TEST,
    title: 'everything that was credited can be refunded, to the last unit, and no more',
  },
  {
    name: 'refund-of-unpaid-refunds',
    protects:
      'What the provider has sent back already is not refunded again, although the balance has not paid for it.',
    file: REFUND,
    find: "({ state }) => state === 'owed' || state === 'waived'",
    replace: "({ state }) => state === 'waived'",
    test: REFUND_TERMS_TEST,
    title: 'a refund of 40 that is',
  },
  {
    name: 'payout-limit-lock',
    protects: 'A payout decides by what the reservations before it have taken of the day.',
    file: 'activities/payout/reserve.ts',
    find: 'lockUsage(tx, { ...claim, currency: claim.request.currency });',
    replace: '',
    test: RESERVATIONS_TEST,
    title: 'is refused by the limit of the account',
  },
  {
    name: 'batch-limit-lock',
    protects: 'A batch decides by what the reservations before it have taken of the day.',
    file: BATCH_RESERVE,
    find: 'for (const currency of currencies) lockUsage(tx, { ...claim, currency });',
    replace: '',
    test: RESERVATIONS_TEST,
    title: 'is refused by the limit of the account',
  },
  {
    name: 'batch-locks-in-order',
    protects: 'Two batches with the same currencies do not wait for each other.',
    file: BATCH_RESERVE,
    find: '[...new Set(rows.map(({ request }) => request.currency))].sort();',
    replace: '[...new Set(rows.map(({ request }) => request.currency))];',
    test: RESERVATIONS_TEST,
    title: 'batches lock their currencies in one order, whatever the order of their rows',
  },
  {
    name: 'refund-limit-lock',
    protects:
      'A refund decides by what the reservations before it have taken of the day of its key.',
    file: REFUND_RESERVE,
    find: 'lockUsage(tx, { ...claim, currency: payment.currency });',
    replace: '',
    test: RESERVATIONS_TEST,
    title: 'is refused by the limit of its key',
  },
  {
    name: 'refund-of-the-claimed-payment',
    protects: 'A claim for a refund of one payment refunds no other.',
    file: REFUND_RESERVE,
    find: 'if (request.paymentId !== paymentId) throw',
    replace: "if (request.paymentId === '') throw",
    test: RESERVATIONS_TEST,
    title: 'a claim for a refund of one payment refunds no other',
  },
  {
    name: 'owed-refund-waits-for-an-ordered-one',
    protects: 'An owed refund is not collected of what an ordered one reserves.',
    file: REFUNDS,
    find: 'if (hasToWait(payment, refund.amount, known)) return false;',
    replace: '',
    test: DOUBTS_TEST,
    title: 'is collected only of what no ordered one reserves',
  },
  {
    name: 'case-open-while-owed',
    protects: 'A case about refunds stays open while one of them is owed.',
    file: REFUNDS,
    find: 'if (owed.length === 1) {',
    replace: 'if (owed.length > 0) {',
    test: DOUBTS_TEST,
    title: 'keeps its case open while another one is owed',
  },
  {
    name: 'refused-refund-frees-the-key',
    protects: 'A refund that was refused uses up nothing of the day of its key.',
    file: 'src/db/migrations/0048-key-limits-of-refunds.ts',
    find: "AND state <> 'refused'",
    replace: '',
    test: USAGE_TEST,
    title: 'the day of a key counts its refunds, but for those that were refused',
  },
  {
    name: 'reset-of-what-counts',
    protects: 'A refusal names the time when a payout that counts leaves the window.',
    file: 'src/db/repositories/payout-facts.ts',
    find: 'AND p.status NOT IN (${sqlList(RETURNED_PAYOUT_STATUSES)})',
    replace: '',
    test: USAGE_TEST,
    title: 'a limit names the time when the oldest payout that counts leaves the window',
  },
];
