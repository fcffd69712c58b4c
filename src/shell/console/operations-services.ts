/** Providers, positions, the ledger check and the webhook backlog, for operators. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { readLedgerReport, readProvenAt } from '../../db/ledger/ledger-verify';
import {
  listBacklogs,
  listPositions,
  listStatementStates,
} from '../../db/operations/console-operations';
import { readProviderCalls } from '../../db/operations/provider-calls';
import { listProviderWallets } from '../../db/operations/provider-wallets';
import { listProviderAlarms } from '../../db/cases/provider-alarms';
import type { Db } from '../../db/transaction';
import { MODES, type Mode } from '../../domain/mode';
import { newId } from '../../platform/lib/new-id';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import { type OperatorSchedule, runNow } from '../../temporal/schedules';
import { readTaskQueues } from '../../temporal/task-queues';
import { providerQueue } from '../../../workflows/names';
import { makeChange, type ChangedBy } from '../../kit/service/audit';

export { type ProviderCalls, SHOWN_MINUTES } from '../../db/operations/provider-calls';
export { BACKLOG_MAX } from '../../db/operations/console-operations';
export type { LedgerReport } from '../../db/ledger/ledger-verify';
export { OPERATOR_SCHEDULES, type OperatorSchedule } from '../../temporal/schedules';

/** A page waits at most this long for all providers together. */
const PROVIDER_MS = 3_000;

export interface ProviderCheck {
  provider: string;
  mode: Mode;
  /** The error of a provider that did not answer; null if it answered. */
  problem: string | null;
  durationMs: number;
}

export interface ConsoleOperationsDeps {
  db: Db;
  temporal: Client;
  providers: ProviderRegistry;
}

export type ConsoleOperations = ReturnType<typeof createConsoleOperations>;

export function createConsoleOperations(deps: ConsoleOperationsDeps) {
  const { db, temporal, providers } = deps;
  return {
    statements: () => listStatementStates(db),
    positions: () => listPositions(db),
    backlogs: () => listBacklogs(db),
    alarms: () => listProviderAlarms(db),
    wallets: () => listProviderWallets(db),
    provenAt: () => readProvenAt(db),
    providerCalls: () => readProviderCalls(db),
    /** Null when Temporal does not answer. */
    taskQueues: () =>
      readTaskQueues(
        temporal,
        MODES.flatMap((mode) =>
          providers.list(mode).map(({ code }) => providerQueue({ provider: code, mode })),
        ),
      ),
    /** The report of the last check; null before the first. */
    ledgerReport: () => readLedgerReport(db),
    /** Asks every provider for a payout that does not exist. */
    checkProviders: (): Promise<ProviderCheck[]> =>
      Promise.all(
        MODES.flatMap((mode) =>
          providers.list(mode).map(async (provider) => {
            const startedAt = performance.now();
            const answer = await Promise.race([provider.findPayout(newId('payout')), timeOut()]);
            const problem =
              answer.kind === 'not_found' || answer.kind === 'found' ? null : answer.reason;
            const durationMs = Math.round(performance.now() - startedAt);
            return { provider: provider.name, mode, problem, durationMs };
          }),
        ),
      ),
    /** @returns false when Temporal does not answer */
    runNow: async (by: ChangedBy, schedule: OperatorSchedule): Promise<boolean> => {
      try {
        await runNow(temporal, schedule);
      } catch {
        return false;
      }
      return makeChange(db, by, () =>
        Promise.resolve({
          result: true,
          audit: {
            action: 'schedule.run',
            object: 'schedule',
            objectId: schedule,
            accountId: null,
            before: null,
            after: null,
          },
        }),
      );
    },
  };
}

/** The provider's own time-out may be longer; its answer is then ignored. */
function timeOut() {
  const reason = `No answer within ${PROVIDER_MS / 1_000} seconds.`;
  return sleep(PROVIDER_MS, { kind: 'unknown' as const, reason }, { ref: false });
}
