/**
 * What the supervising pages of the operator console read and change, over all accounts and both
 * modes. src/deps.ts builds it; the changes are those of the admin command.
 */
import { COUNT_MAX, readOperatorAttention } from '../db/repositories/console-attention';
import { readWaitingPayouts } from '../db/repositories/console-payouts';
import { CASE_KINDS } from '../domain/cases';
import { resumeHeldPayouts } from '../temporal/payout-workflows';
import { type ConsolePaymentsDeps, createConsolePayments } from './console-payments';
import { type AuditQuery, readAuditLog } from './audit-log';
import { type ConsoleOperationsDeps, createConsoleOperations } from './console-operations';
import { createConsoleRecipients } from './recipient-rules';
import { createPolicyProposals } from './policy-proposals';

export { COUNT_MAX } from '../db/repositories/console-attention';
export type { WaitingPayouts } from '../db/repositories/console-payouts';

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
    recipients: createConsoleRecipients(db),
    proposals,
    payments: createConsolePayments(deps),
    /** After a pause was lifted. */
    wakeHeld: () => resumeHeldPayouts(temporal),
    operations: createConsoleOperations(deps),
    auditLog: (query: AuditQuery) => readAuditLog(db, query),
  };
}
