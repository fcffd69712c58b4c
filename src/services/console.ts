/**
 * What the supervising pages of the operator console read and change, over all accounts and both
 * modes. src/deps.ts builds it; the changes are those of the admin command.
 */
import {
  COUNT_MAX,
  type OperatorAttention,
  readOperatorAttention,
} from '../db/repositories/console-attention';
import { readWaitingPayouts, type WaitingPayouts } from '../db/repositories/console-payouts';
import type { ListPage } from '../db/repositories/lists';
import { CASE_KINDS } from '../domain/cases';
import { resumeHeldPayouts } from '../temporal/payout-workflows';
import type { ChangedBy } from './admin/audit';
import {
  confirmThreshold,
  type FourEyesSetting,
  listThresholds,
  proposeThreshold,
  type ThresholdChange,
  withdrawThreshold,
} from './admin/four-eyes';
import { listPauses, type PausedPayouts, pausePayouts, resumePayouts } from './admin/payouts';
import {
  type ConsolePayments,
  type ConsolePaymentsDeps,
  createConsolePayments,
} from './console-payments';
import { type AuditEntry, type AuditQuery, readAuditLog } from './audit-log';
import { type ConsoleAccounts, createConsoleAccounts } from './console-accounts';
import { type ConsoleCases, createConsoleCases } from './console-cases';
import {
  type ConsoleOperations,
  type ConsoleOperationsDeps,
  createConsoleOperations,
} from './console-operations';
import { createPolicyProposals, type PolicyProposals } from './policy-proposals';

export { COUNT_MAX } from '../db/repositories/console-attention';
export type { WaitingPayouts } from '../db/repositories/console-payouts';

/** A banner that names more is not read. */
const PAUSES_MAX = 100;

type Pause = Awaited<ReturnType<typeof listPauses>>[number];

export interface ConsolePauses {
  /** At most 100, the oldest first. */
  list: () => Promise<Pause[]>;
  /** @throws AdminRefusal, InvalidInput */
  pause: (by: ChangedBy & { reason: string }, what: PausedPayouts) => Promise<Pause>;
  /** @throws AdminRefusal */
  resume: (by: ChangedBy, id: string) => Promise<Pause>;
}

/** @throws AdminRefusal, InvalidInput */
export interface ConsoleFourEyes {
  list: () => Promise<FourEyesSetting[]>;
  propose: (
    by: ChangedBy & { reason: string },
    change: ThresholdChange,
  ) => Promise<FourEyesSetting>;
  confirm: (by: ChangedBy, change: ThresholdChange) => Promise<FourEyesSetting>;
  withdraw: (by: ChangedBy, currency: string) => Promise<FourEyesSetting>;
}

export interface ConsoleServices {
  attention: () => Promise<OperatorAttention>;
  /** What waits for a provider: in doubt, or stuck. */
  waitingPayouts: () => Promise<WaitingPayouts[]>;
  cases: ConsoleCases;
  accounts: ConsoleAccounts;
  proposals: PolicyProposals;
  fourEyes: ConsoleFourEyes;
  payments: ConsolePayments;
  pauses: ConsolePauses;
  operations: ConsoleOperations;
  auditLog: (query: AuditQuery) => Promise<ListPage<AuditEntry>>;
}

export function createConsoleServices(
  deps: ConsoleOperationsDeps & ConsolePaymentsDeps,
): ConsoleServices {
  const { db, temporal } = deps;
  const proposals = createPolicyProposals(db);
  return {
    attention: () => readOperatorAttention(db, CASE_KINDS),
    waitingPayouts: () => readWaitingPayouts(db, COUNT_MAX),
    cases: createConsoleCases(db),
    accounts: createConsoleAccounts(db, proposals),
    proposals,
    payments: createConsolePayments(deps),
    fourEyes: {
      list: () => listThresholds(db),
      propose: (by, change) => proposeThreshold(db, by, change),
      confirm: (by, change) => confirmThreshold(db, by, change),
      withdraw: (by, currency) => withdrawThreshold(db, by, currency),
    },
    pauses: {
      list: () => listPauses(db, PAUSES_MAX),
      pause: (by, what) => pausePayouts(db, by, what),
      resume: (by, id) => resumePayouts(db, by, id, () => resumeHeldPayouts(temporal)),
    },
    operations: createConsoleOperations(deps),
    auditLog: (query) => readAuditLog(db, query),
  };
}
