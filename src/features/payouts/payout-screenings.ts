/** What operators do about the screening of a payout: read the answers, ask again, and allow the payout. */
import { resolveOpenCase } from '../../db/cases/cases';
import { findPayout } from '../../db/payouts/payouts';
import { insertAllowance, readPayoutScreening } from '../../db/screening/screening';
import { appendAudit } from '../../db/audit/audit-log';
import type { Db } from '../../db/transaction';
import { isFinalPayout, type Payout } from '../../domain/payout';
import type { SecretBox } from '../../platform/lib/secret-box';
import { screen, type Screened, subjectOfPayout } from '../../adapters/screening/screening';
import type { ScreeningService } from '../../adapters/screening/service';
import { payoutStart, type PayoutWorkflows } from '../../temporal/payout-workflows';
import type { ChangedBy } from '../../kit/service/audit';
import { checkText } from '../../kit/service/checks';
import { AdminRefusal } from '../../kit/service/refusal';

export type { PayoutScreening } from '../../db/screening/screening';

const REASON_LENGTH_MAX = 500;

export interface PayoutScreeningDeps {
  db: Db;
  screeningService: Pick<ScreeningService, 'ask'> | null;
  payoutWorkflows: Pick<PayoutWorkflows, 'wake'>;
  secretBox: Pick<SecretBox, 'open'>;
}

export type PayoutScreenings = ReturnType<typeof createPayoutScreenings>;

export function createPayoutScreenings(deps: PayoutScreeningDeps) {
  return {
    /** @throws AdminRefusal */
    read: async (payoutId: string) => {
      const screening = await readPayoutScreening(deps.db, payoutId);
      if (screening === null) throw noPayout(payoutId);
      return screening;
    },
    askAgain: (by: ChangedBy, payoutId: string) => askAgain(deps, by, payoutId),
    allow: (by: ChangedBy, payoutId: string, seen: string) => allow(deps, by, payoutId, seen),
  };
}

function noPayout(id: string): AdminRefusal {
  return new AdminRefusal({ code: 'not_found', object: 'payout', id });
}

/** Asks every source now, and lets the payout go on with the answers. @throws AdminRefusal */
async function askAgain(
  deps: PayoutScreeningDeps,
  by: ChangedBy,
  payoutId: string,
): Promise<Screened> {
  const payout = await findPayout(deps.db, payoutId);
  if (payout === null) throw noPayout(payoutId);
  if (payout.mode === 'test' || isFinalPayout(payout.status) || payout.status === 'processing') {
    throw new AdminRefusal({ code: 'not_to_be_screened', id: payoutId });
  }
  // The audit row comes first: an answer can release the payout.
  await deps.db.transaction((tx) =>
    appendAudit(tx, { ...by, ...auditOf('payout.screening_ask', payout) }),
  );
  const screened = await screen(deps, subjectOfPayout(deps.secretBox, payout), true);
  await wake(deps, payout);
  return screened;
}

/**
 * Lets the held payout be submitted in spite of the answers that the operator saw.
 * @throws InvalidInput, AdminRefusal
 */
async function allow(
  deps: PayoutScreeningDeps,
  by: ChangedBy,
  payoutId: string,
  seen: string,
): Promise<void> {
  const reason = checkText('reason', by.reason ?? '', REASON_LENGTH_MAX);
  const payout = await deps.db.transaction(async (tx) => {
    const allowed = await insertAllowance(tx, payoutId, { seen, by: by.actor, reason });
    if (allowed === null) throw new AdminRefusal({ code: 'screening_changed', id: payoutId });
    await resolveOpenCase(tx, 'screening_review', payoutId, `Allowed by ${by.actor}: ${reason}`);
    await appendAudit(tx, {
      ...by,
      reason,
      ...auditOf('payout.screening_allow', allowed, { seen }),
    });
    return allowed;
  });
  await wake(deps, payout);
}

/** If this fails, the schedule `restart-missing` wakes the payout. */
async function wake({ payoutWorkflows }: PayoutScreeningDeps, payout: Payout): Promise<void> {
  if (payout.status === 'approved') {
    await payoutWorkflows.wake(payoutStart(payout)).catch(() => undefined);
  }
}

function auditOf(action: string, payout: Payout, after: { seen: string } | null = null) {
  return {
    action,
    object: 'payout',
    objectId: payout.id,
    accountId: payout.accountId,
    before: null,
    after,
  };
}
