/** An account with its policies, the newest changes, and what is proposed, for the console. */
import { listAudit } from '../../db/audit/audit-log';
import type { Db } from '../../db/transaction';
import { showAccount } from './accounts';
import { listFees } from './fees';
import { listLimits } from './limits';
import { createPolicyProposals } from './policy-proposals';
import { showReview } from './review';

const HISTORY_SHOWN = 10;

export type AccountDetail = Awaited<ReturnType<typeof readAccountDetail>>;

/** Reads it for the console. @throws AdminRefusal when the account does not exist */
export async function readAccountDetail(db: Db, id: string) {
  const overview = await showAccount(db, id);
  const proposals = createPolicyProposals(db);
  const [limits, review, fees, history, proposed, hasSecondAdmin] = await Promise.all([
    listLimits(db, id),
    showReview(db, id),
    listFees(db, id, false),
    listAudit(db, { accountId: id, limit: HISTORY_SHOWN }),
    proposals.list(id),
    proposals.hasSecondAdmin(),
  ]);
  return { ...overview, limits, review, fees, history, proposed, hasSecondAdmin };
}
