/** Invariant 12, for which Temporal is asked: `npm run ledger:verify` calls it. */
import type { InvariantResult } from '../db/ledger-verify';
import { listNeedingWorkflow, listStillNeedingWorkflow } from '../db/repositories/needing-workflow';
import type { Db } from '../db/transaction';
import type { LiveWorkflows } from '../temporal/visibility';

const ROWS_SHOWN = 20;

export const WORKFLOWS_INVARIANT = {
  number: 12,
  name: 'what is not final has a workflow',
  sentence:
    'A workflow runs for each payout that is not final, and for each payment that is open, waits ' +
    'for late money or has a decision or a debt to be carried out.',
};

/** @throws what Temporal's client throws when it does not answer */
export async function verifyWorkflows(
  db: Db,
  liveWorkflows: LiveWorkflows,
): Promise<InvariantResult> {
  const driven = await listNeedingWorkflow(db);
  const missing = await liveWorkflows.findMissing(driven.map(({ id }) => id));
  // Some may have ended while Temporal was asked.
  const broken = missing.length === 0 ? [] : await listStillNeedingWorkflow(db, missing);
  return {
    ...WORKFLOWS_INVARIANT,
    checked: driven.length,
    noun: 'payouts and payments',
    broken: broken.length,
    rows: broken.slice(0, ROWS_SHOWN).map((row) => ({ ...row })),
  };
}
