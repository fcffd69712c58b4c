/**
 * What the supervising pages of the operator console read and change, over all accounts and both
 * modes. src/deps.ts builds it; the changes are those of the admin command.
 */
import { COUNT_MAX, readOperatorAttention } from '../db/repositories/console-attention';
import { readWaitingPayouts } from '../db/repositories/console-payouts';
import { CASE_KINDS } from '../domain/cases';
import { resumeHeldPayouts } from '../temporal/payout-workflows';
import type { ChangedBy } from './admin/audit';
import {
  confirmThreshold,
  listThresholds,
  proposeThreshold,
  type ThresholdChange,
  withdrawThreshold,
} from './admin/four-eyes';
import { listPauses, type PausedPayouts, pausePayouts, resumePayouts } from './admin/payouts';
import { type ConsolePaymentsDeps, createConsolePayments } from './console-payments';
import { type AuditQuery, readAuditLog } from './audit-log';
import { createConsoleCases } from './console-cases';
import { type ConsoleOperationsDeps, createConsoleOperations } from './console-operations';
import { createConsoleRecipients } from './recipient-rules';
import { createPolicyProposals } from './policy-proposals';

export { COUNT_MAX } from '../db/repositories/console-attention';
export type { WaitingPayouts } from '../db/repositories/console-payouts';

/** A banner that names more is not read. */
const PAUSES_MAX = 100;

export type ConsoleServices = ReturnType<typeof createConsoleServices>;

/** What its members change throws AdminRefusal and InvalidInput. */
export function createConsoleServices(deps: ConsoleOperationsDeps & ConsolePaymentsDeps) {
  const { db, temporal } = deps;
  const proposals = createPolicyProposals(db);
  return {
    db,
    attention: () => readOperatorAttention(db, CASE_KINDS),
    /** What waits for a provider: in doubt, or stuck. */
    waitingPayouts: () => readWaitingPayouts(db, COUNT_MAX),
    cases: createConsoleCases(db),
    recipients: createConsoleRecipients(db),
    proposals,
    payments: createConsolePayments(deps),
    fourEyes: {
      list: () => listThresholds(db),
      propose: (by: ChangedBy & { reason: string }, change: ThresholdChange) =>
        proposeThreshold(db, by, change),
      confirm: (by: ChangedBy, change: ThresholdChange) => confirmThreshold(db, by, change),
      withdraw: (by: ChangedBy, currency: string) => withdrawThreshold(db, by, currency),
    },
    pauses: {
      /** The oldest first. */
      list: () => listPauses(db, PAUSES_MAX),
      pause: (by: ChangedBy & { reason: string }, what: PausedPayouts) =>
        pausePayouts(db, by, what),
      resume: (by: ChangedBy, id: string) =>
        resumePayouts(db, by, id, () => resumeHeldPayouts(temporal)),
    },
    operations: createConsoleOperations(deps),
    auditLog: (query: AuditQuery) => readAuditLog(db, query),
  };
}
