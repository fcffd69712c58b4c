/** What a payout waits for before it is submitted. */
import type { Guard } from '../guard';

const SQL = 'src/db/repositories/payout-conditions.ts';
const TEST = 'test/db/payout-conditions.test.ts';

export const CONDITION_GUARDS: readonly Guard[] = [
  {
    name: 'conditions-all-met',
    protects: 'No payout is approved while one of its conditions is open.',
    file: SQL,
    find: 'WHERE c.payout_id = payouts.id AND c.met_at IS NULL)))',
    replace: 'WHERE c.payout_id = payouts.id AND false)))',
    test: TEST,
    title: 'needs that every condition is met',
  },
  {
    name: 'conditions-expiry',
    protects: 'No payout is released after its time is over.',
    file: SQL,
    find: '(release_expires_at IS NULL OR release_expires_at > clock_timestamp())',
    replace: 'true',
    test: TEST,
    title: 'a payout whose time is over is not released',
  },
  {
    name: 'conditions-constraint',
    protects: 'The database itself refuses an approved payout that waits.',
    file: 'src/db/migrations/0036-payout-conditions.ts',
    find: "CHECK (awaits_release IS NOT TRUE OR status IN ('requested', 'under_review'))",
    replace: 'CHECK (true)',
    test: TEST,
    title: 'the database refuses an approved payout that waits',
  },
  {
    name: 'conditions-payment-completed',
    protects: 'A payment counts only once it is completed.',
    file: SQL,
    find: "WHERE p.id = c.parameters ->> 'payment' AND p.completed_at IS NOT NULL)",
    replace: "WHERE p.id = c.parameters ->> 'payment')",
    test: TEST,
    title: 'a payment counts when it is completed',
  },
  {
    name: 'conditions-named-key',
    protects: 'Only the key that a payout names approves it.',
    file: SQL,
    find: "WHERE a.payout_id = c.payout_id AND a.api_key_id = c.parameters ->> 'api_key')",
    replace: 'WHERE a.payout_id = c.payout_id)',
    test: TEST,
    title: 'the approval of the named key counts',
  },
  {
    name: 'conditions-own-payment',
    protects: 'A payout waits for a payment of its own account and mode only.',
    file: SQL,
    find: 'p.id = q.payment AND p.account_id = q.account AND p.mode = q.mode',
    replace: 'p.id = q.payment',
    test: TEST,
    title: 'a payment is known to its own account and mode alone',
  },
];
