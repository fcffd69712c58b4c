/** Invariant 12, which asks Temporal. `npm run ledger:verify` calls it. */
import type { InvariantResult } from '../../db/ledger/ledger-verify';
import {
  listNeedingWorkflow,
  listStillNeedingWorkflow,
} from '../../db/operations/needing-workflow';
import type { Db } from '../../db/transaction';
import type { LiveWorkflows } from '../../temporal/visibility';

const ROWS_SHOWN = 20;

export const WORKFLOWS_INVARIANT = {
  number: 12,
  name: 'everything in progress has a workflow',
  sentence:
    'A workflow runs for each open payout, and for each payment that is open, is underpaid, has ' +
    'money that was seen and not credited, or has a pending decision or a refund that is still to be deducted.',
};

/** @throws the error of Temporal's client when Temporal does not respond */
export async function verifyWorkflows(
  db: Db,
  liveWorkflows: LiveWorkflows,
): Promise<InvariantResult> {
  const needing = await listNeedingWorkflow(db);
  const missing = await liveWorkflows.findMissing(needing.map(({ id }) => id));
  // Some may have ended while Temporal was asked.
  const broken = missing.length === 0 ? [] : await listStillNeedingWorkflow(db, missing);
  return {
    ...WORKFLOWS_INVARIANT,
    checked: needing.length,
    noun: 'payouts and payments',
    broken: broken.length,
    rows: broken.slice(0, ROWS_SHOWN).map((row) => ({ ...row })),
  };
}
