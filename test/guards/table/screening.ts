/** The screening of destinations: what lets a live payout through, and what an answer is. */
import type { Guard } from '../guard';

const SQL = 'src/db/repositories/screening.ts';
const TABLE = 'test/db/screening.test.ts';
const WORKFLOW = 'test/workflow/screening.test.ts';
const SCREEN = 'activities/payout/screen.ts';

export const SCREENING_GUARDS: readonly Guard[] = [
  {
    name: 'screening-at-submission',
    protects: 'No live payout is submitted without a clear answer while a source is set.',
    file: 'src/db/repositories/payout-pauses.ts',
    find: "WHERE id = ? AND status = 'approved' AND ${IS_SCREENED}",
    replace: "WHERE id = ? AND status = 'approved'",
    test: TABLE,
    title: 'with a source, a live payout needs an answer, and a test payout does not',
  },
  {
    name: 'screening-account',
    protects: 'An answer counts for the account that it was asked for.',
    file: SQL,
    find: 'WHERE a.account_id = payouts.account_id AND a.mode = payouts.mode',
    replace: 'WHERE a.mode = payouts.mode',
    test: TABLE,
    title: 'an answer for another account lets nothing through',
  },
  {
    name: 'screening-destination',
    protects: 'An answer counts for the destination that it is about.',
    file: SQL,
    find: 'AND a.destination_value = payouts.destination_value\n',
    replace: '\n',
    test: TABLE,
    title: 'is about another destination',
  },
  {
    name: 'screening-network',
    protects: 'An answer counts for the network that it is about.',
    file: SQL,
    find: 'AND a.network IS NOT DISTINCT FROM payouts.network\n',
    replace: '\n',
    test: TABLE,
    title: 'is about another network',
  },
  {
    name: 'screening-beneficiary',
    protects: 'An answer about a named beneficiary counts for its payout alone.',
    file: SQL,
    find: 'AND (a.object_id = payouts.id OR NOT a.with_beneficiary AND NOT EXISTS (',
    replace: 'AND (a.object_id = payouts.id OR NOT EXISTS (',
    test: TABLE,
    title: 'is about the beneficiary of another payout',
  },
  {
    name: 'screening-version',
    protects: 'After an import, earlier answers of the list do not count.',
    file: SQL,
    find: 'AND a.source = s.name AND a.source_version = s.version\n         ORDER BY a.id DESC LIMIT 1) AS last\n     WHERE',
    replace: 'AND a.source = s.name\n         ORDER BY a.id DESC LIMIT 1) AS last\n     WHERE',
    test: TABLE,
    title: 'an answer of a list counts until the list is imported again',
  },
  {
    name: 'screening-age',
    protects: 'An answer that is older than a day does not count.',
    file: SQL,
    find: "WHERE last.verdict = 'clear' AND last.answered_at > clock_timestamp() - ${VALID}",
    replace: "WHERE last.verdict = 'clear'",
    test: TABLE,
    title: 'is older than a day',
  },
  {
    name: 'screening-allowance-seen',
    protects: 'An operator allows what the operator saw, and no later answer.',
    file: SQL,
    find: 'WHERE w.payout_id = payouts.id AND w.answers_seen >= last.id',
    replace: 'WHERE w.payout_id = payouts.id',
    test: TABLE,
    title: 'an operator’s allowance counts for its payout and for the answers that were seen',
  },
  {
    name: 'screening-block-reason',
    protects: 'A merchant does not learn that the screening blocked a payout.',
    file: SCREEN,
    find: 'rejectionReason: DEFAULT_REJECTION_REASON',
    replace: "rejectionReason: 'Blocked by the screening.'",
    test: WORKFLOW,
    title: 'a blocked payout is rejected for a reason that says nothing',
  },
];
