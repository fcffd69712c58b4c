/** Everything that must have a workflow at this moment (invariant 12). */
import { rows, type Db } from '../transaction';
import { PAYMENT_NEEDS_WORKFLOW } from './payments-needing-workflow';
import { PAYOUT_NEEDS_WORKFLOW } from './payouts-needing-workflow';

export interface ObjectNeedingWorkflow {
  id: string;
  status: string;
}

const NEEDING_WORKFLOW = `
  SELECT id, status FROM payouts WHERE ${PAYOUT_NEEDS_WORKFLOW}
  UNION ALL
  SELECT id, status FROM payments WHERE ${PAYMENT_NEEDS_WORKFLOW}`;

export async function listNeedingWorkflow(db: Db): Promise<ObjectNeedingWorkflow[]> {
  return rows<ObjectNeedingWorkflow>(
    db,
    `SELECT id, status FROM (${NEEDING_WORKFLOW}) AS driven ORDER BY id`,
  );
}

/** Those of the ids that need one still. */
export async function listStillNeedingWorkflow(
  db: Db,
  ids: readonly string[],
): Promise<ObjectNeedingWorkflow[]> {
  return rows<ObjectNeedingWorkflow>(
    db,
    `SELECT id, status FROM (${NEEDING_WORKFLOW}) AS driven WHERE id = ANY (?::text[]) ORDER BY id`,
    [[...ids]],
  );
}
