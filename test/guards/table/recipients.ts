/** Guards of recipients, the limits of keys, and the second person. */
import type { Guard } from '../guard';

const E2E = 'test/e2e/recipients.test.ts';
const SECOND = 'test/e2e/second-person.test.ts';

export const RECIPIENT_GUARDS: readonly Guard[] = [
  {
    name: 'recipient-waits',
    protects: 'No money goes to a live recipient before its wait is over.',
    file: 'src/domain/recipient.ts',
    find: 'if (usableFrom > readAt) return waitsUntil(usableFrom);\n',
    replace: '\n',
    test: E2E,
    title: 'waits 24 hours, and the refusal names the time',
  },
  {
    name: 'recipient-wait-by-database',
    protects: 'No program shortens the wait of a recipient.',
    file: 'src/db/migrations/0053-recipient-screening.ts',
    find: '      NEW.usable_from := OLD.usable_from;\n',
    replace: '',
    test: 'test/db/recipients.test.ts',
    title: 'a live recipient waits, whatever the program writes; one of test mode does not',
  },
  {
    name: 'recipients-only',
    protects: 'An account and a key that are held to recipients pay nobody else.',
    file: 'src/domain/terms.ts',
    find: 'if (notAllowed !== null) return { refusal: notAllowed };',
    replace: '',
    test: E2E,
    title: 'a live payout of an account that is held to recipients must name one',
  },
  {
    name: 'key-daily-limit',
    protects: 'Requests at the same moment do not exceed the daily limit of their key.',
    file: 'src/db/migrations/0035-recipients.ts',
    find: "  PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(':', p_api_key_id, p_currency), 0));\n",
    replace: '',
    test: E2E,
    title: 'twenty payouts at once do not exceed the daily limit of their key',
  },
  {
    name: 'second-person-is-another',
    protects: 'Whoever makes something does not approve it as the second person.',
    file: 'src/services/second-person.ts',
    find: "if (waiting.maker === userId) throw new AdminRefusal({ code: 'made_by_yourself', id });",
    replace: '',
    test: SECOND,
    title:
      'above the amount it waits, its maker and a developer do not release it, another owner does',
  },
  {
    name: 'second-person-sees-this-version',
    protects: 'An approval is about the rows or the destination that the page showed.',
    file: 'src/services/second-person.ts',
    find: "if (waiting.version !== version) throw new AdminRefusal({ code: 'changed_since_shown', id });",
    replace: '',
    test: SECOND,
    title: 'an approval does not count for the rows that remain when others are left out',
  },
  {
    name: 'second-person-by-database',
    protects: 'The maker’s own row, and that of a person without the role, is no approval.',
    file: 'src/db/migrations/0042-second-person-for-all.ts',
    find: '                        AND m.role = ANY (p_roles)\n',
    replace: '',
    test: SECOND,
    title:
      'above the amount it waits, its maker and a developer do not release it, another owner does',
  },
  {
    name: 'second-person-of-rows',
    protects: 'Many small rows of a batch do not pass the amount of a second person.',
    file: 'src/domain/batch-terms.ts',
    find: 'needsSecondPerson(secondPersonAbove, amount),',
    replace: 'needsSecondPerson(secondPersonAbove, amount) && rows.length < 2,',
    test: SECOND,
    title:
      'the rows of a batch count together: it waits for another owner, who approves what the page shows',
  },
  {
    name: 'second-person-of-batch',
    protects: 'No operator, signal or timer approves a batch in place of the second person.',
    file: 'activities/payout-batch/decide.ts',
    find: '\n    AND ${SECOND_PERSON_APPROVED}',
    replace: '',
    test: SECOND,
    title:
      'the rows of a batch count together: it waits for another owner, who approves what the page shows',
  },
  {
    name: 'second-person-of-refund',
    protects: 'The provider is not asked for a refund that waits for a second person.',
    file: 'activities/payment/carry-out.ts',
    find: "state === 'ordered' && !awaitsPerson",
    replace: "state === 'ordered' || awaitsPerson",
    test: SECOND,
    title:
      'a refund above the amount reserves its money, and the provider is asked after another owner approved',
  },
  {
    name: 'refund-gives-way',
    protects: 'A refund that waits does not follow one that the provider made by itself.',
    file: 'activities/payment/refunds.ts',
    find: 'if (waiting === undefined || !hasUnknownRefund(payment, facts, known)) return null;',
    replace: 'if (waiting === undefined || waiting.awaitsPerson) return null;',
    test: SECOND,
    title:
      'the provider refunds by itself while a refund waits: that one gives way, and nobody is paid twice',
  },
  {
    name: 'second-person-of-recipient',
    protects: 'A recipient of a person is not paid before a second person approves it.',
    file: 'src/domain/recipient.ts',
    find: '  if (awaitsSecondPerson) return NOT_APPROVED;\n',
    replace: '',
    test: SECOND,
    title: 'a recipient of a person is paid after another owner approved its present destination',
  },
  {
    name: 'key-limits-of-refunds',
    protects: 'The limits of an API key apply to its refunds.',
    file: 'src/domain/terms.ts',
    find: 'return limit === null ? null : { ...limit, message };',
    replace: 'return limit === null || message !== null ? null : limit;',
    test: 'test/e2e/refunds.test.ts',
    title:
      'a maximum for each, one of 24 hours together with payouts, currencies, and recipients only',
  },
  {
    name: 'refund-destination-scope',
    protects: 'A key without payouts:write names no destination of a refund.',
    file: 'src/http/routes/refunds.ts',
    find: "if (request.destination !== null) requireScope(caller, 'payouts:write');",
    replace: '',
    test: 'test/e2e/refunds.test.ts',
    title: 'needs payouts:write as well, and the refund without one does not',
  },
  {
    name: 'live-refund-destination',
    protects: 'A live refund goes nowhere but where the provider sends it.',
    file: 'src/services/refunds.ts',
    find: "if (mode === 'live') {",
    replace: "if (mode === 'live' && network === null) {",
    test: 'test/e2e/refunds.test.ts',
    title: 'is refused in live mode, where it would be a payout without a review',
  },
];
