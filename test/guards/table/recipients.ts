/** Guards of recipients, the limits of keys, and the second person. */
import type { Guard } from '../guard';

const E2E = 'test/e2e/recipients.test.ts';
const SECOND = 'test/e2e/second-person.test.ts';

export const RECIPIENT_GUARDS: readonly Guard[] = [
  {
    name: 'recipient-waits',
    protects: 'No money goes to a live recipient before its wait is over.',
    file: 'src/domain/recipient.ts',
    find: 'if (usableFrom > readAt)',
    replace: 'if (usableFrom > readAt && readAt.getTime() === 0)',
    test: E2E,
    title: 'waits 24 hours, and the refusal names the time',
  },
  {
    name: 'recipient-wait-by-database',
    protects: 'No program shortens the wait of a recipient.',
    file: 'src/db/migrations/0035-recipients.ts',
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
    protects: 'Whoever makes a payout does not approve it as the second person.',
    file: 'src/services/second-person.ts',
    find: "if (payout.apiKeyId === userId) throw new AdminRefusal({ code: 'own_payout', id });",
    replace: '',
    test: SECOND,
    title:
      'above the amount it waits, its maker and a developer do not release it, another owner does',
  },
  {
    name: 'second-person-of-rows',
    protects: 'Many small rows of a table do not pass the amount of a second person.',
    file: 'src/domain/batch-terms.ts',
    find: 'if (above !== null && isLess(above, add(sum.amount, request.amount))) {',
    replace: 'if (above !== null && isLess(above, request.amount)) {',
    test: SECOND,
    title: 'the rows of a table are not more together than one person may request',
  },
];
