/**
 * What the supervising pages of the operator console read and change, over all accounts and both
 * modes. src/deps.ts builds it; the changes are those of the admin command.
 */
import {
  readOpenCases,
  readOperatorAttention,
  readWaiting,
} from '../db/repositories/console-attention';
import { listPayoutSchedules } from '../db/repositories/payout-schedules';
import { listHeads } from '../db/audit-chain';
import { findPayout } from '../db/repositories/payouts';
import { CASE_KINDS } from '../domain/cases';
import { resumeHeldPayouts } from '../temporal/payout-workflows';
import { type ConsolePaymentsDeps, createConsolePayments } from './console-payments';
import { AdminRefusal } from './admin/refusal';
import { buildDossier, type DossierDeps } from './payout-dossier';
import { type AuditQuery, readAuditLog } from './audit-log';
import { type ConsoleOperationsDeps, createConsoleOperations } from './console-operations';
import type { Owner } from './own';
import { createConsoleRecipients } from './recipient-rules';
import { createPolicyProposals } from './policy-proposals';
import type { ListPosition } from './services';

export {
  COUNT_MAX,
  type OpenCases,
  type WaitCause,
  type Waiting,
  type WaitingObjects,
} from '../db/repositories/console-attention';

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
