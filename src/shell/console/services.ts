/**
 * What the supervising pages of the operator console read and change, over all accounts and both
 * modes. src/shell/deps.ts builds it; the changes are those of the admin command.
 */
import type { Owner } from '../../domain/mode';
import {
  readOpenCases,
  readOperatorAttention,
  readWaiting,
} from '../../db/operations/console-attention';
import { listPayoutSchedules } from '../../db/payout-schedules/payout-schedules';
import { listHeads } from '../../db/audit/audit-chain';
import { findPayout } from '../../db/payouts/payouts';
import { CASE_KINDS } from '../../domain/cases';
import { resumeHeldPayouts } from '../../temporal/payout-workflows';
import {
  type ConsolePaymentsDeps,
  createConsolePayments,
} from '../../features/payments/console-payments';
import { AdminRefusal } from '../../kit/service/refusal';
import { buildDossier, type DossierDeps } from '../../features/payouts/payout-dossier';
import { type AuditQuery, readAuditLog } from '../../features/audit/audit-log';
import { type ConsoleOperationsDeps, createConsoleOperations } from './operations-services';
import { createConsoleRecipients } from '../../features/recipients/recipient-rules';
import { createPolicyProposals } from '../../features/accounts/policy-proposals';
import type { ListPosition } from '../../kit/service/services';

export {
  COUNT_MAX,
  type OpenCases,
  type WaitCause,
  type Waiting,
  type WaitingObjects,
} from '../../db/operations/console-attention';

export type ConsoleServices = ReturnType<typeof createConsoleServices>;

/** What its members change throws AdminRefusal and InvalidInput. */
export function createConsoleServices(
  deps: ConsoleOperationsDeps & ConsolePaymentsDeps & { dossiers: DossierDeps },
) {
  const { db, temporal } = deps;
  const proposals = createPolicyProposals(db);
  return {
    db,
    attention: () => readOperatorAttention(db),
    /** The number of objects that wait for an operator, a provider or the end of a pause. */
    waiting: () => readWaiting(db),
    openCases: () => readOpenCases(db, CASE_KINDS),
    recipients: createConsoleRecipients(db),
    /** Of one account, newest first. */
    schedules: (owner: Owner, list: { limit: number; after: ListPosition | null }) =>
      listPayoutSchedules(db, { ...owner, ...list }),
    proposals,
    payments: createConsolePayments(deps),
    /** Wakes held payouts after a pause was lifted. */
    wakeHeld: () => resumeHeldPayouts(temporal),
    operations: createConsoleOperations(deps),
    /** @throws AdminRefusal */
    payoutDossier: async (id: string) => {
      const payout = await findPayout(db, id);
      if (payout === null) throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
      return buildDossier(deps.dossiers, payout);
    },
    /** The newest head of the audit log's chain; null before the first. */
    auditHead: async () => (await listHeads(db, 1))[0] ?? null,
    auditLog: (query: AuditQuery) => readAuditLog(db, query),
  };
}
