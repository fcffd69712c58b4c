/**
 * Decisions by a raw signal to a workflow (decisions/workflows#signals). Anybody who may signal may claim
 * any name, so the audit log says that the name was claimed, and an installation can set amounts above
 * which a signal approves nothing.
 */
import { appendAudit } from '../src/db/audit/audit-log';
import type { Tx } from '../src/db/transaction';
import { type Amount, isLess } from '../src/domain/money';
import type { Deps } from './deps';

interface SignalDecision {
  object: 'payout' | 'payout_batch';
  id: string;
  accountId: string;
  verb: 'approve' | 'reject' | 'stop';
  /** The name in the signal; null means none. */
  by: string | null;
  status: string;
  reason: string | null;
}

/** The actor is no email address of a user, so no filter by a person finds what somebody else claimed. */
export async function auditSignal(tx: Tx, decision: SignalDecision): Promise<void> {
  const { object, id, accountId, verb, by, status, reason } = decision;
  await appendAudit(tx, {
    actor: `${by ?? 'nobody'} (claimed, via signal)`,
    via: 'signal',
    action: `${object}.${verb}`,
    object,
    objectId: id,
    accountId,
    before: null,
    after: { status, claimed_by: by },
    reason,
  });
}

/** Why a signal does not approve, and what to do instead, after "had no effect:". Null if it may. */
export function signalFault(
  { signalApprovalMax, consoleUrl }: Pick<Deps, 'signalApprovalMax' | 'consoleUrl'>,
  path: string,
  amounts: readonly { currency: string; amount: Amount }[],
): string | null {
  for (const { currency, amount } of amounts) {
    const max = signalApprovalMax?.get(currency);
    if (max === undefined || !isLess(max, amount)) continue;
    const where = consoleUrl === null ? 'in the console' : `at ${consoleUrl}/${path}`;
    return `above ${max} ${currency} a signal does not approve alone; sign in to the console and approve it ${where}`;
  }
  return null;
}
