/**
 * Checks the ledger's invariants on what has changed since the last proof. If any is broken, pauses
 * payouts until an operator resumes them, and opens a case with the rows for each broken invariant. A
 * check that fails or is late opens a case too.
 */
import { databaseTime } from '../src/db/database-time';
import { proveChanges, readProvenAt, type InvariantResult } from '../src/db/ledger/ledger-verify';
import { appendAudit } from '../src/db/audit/audit-log';
import { openCase, resolveOpenCase } from '../src/db/cases/cases';
import { insertPause } from '../src/db/accounts/payout-pauses';
import type { Db, Tx } from '../src/db/transaction';
import type { Mode } from '../src/domain/mode';
import { presentPause } from '../src/kit/service/admin';

const ACTOR = 'ledger check';

/**
 * The limit of one statement. The first check after an installation or an import reads all history.
 */
const TIMEOUT_MS = 10 * 60_000;

/** The check is late when twelve runs of its schedule were missed. */
const LATE_AFTER_MS = 60 * 60_000;

export async function checkLedger(
  db: Db,
  timeoutMs = TIMEOUT_MS,
): Promise<{ checked: number; broken: number[] }> {
  const results = await proveChanges(db, { timeoutMs }).catch(async (error: unknown) => {
    await openNotChecked(db, error instanceof Error ? error.message : String(error));
    throw error;
  });
  const broken = results.filter((result) => result.broken > 0);
  if (broken.length > 0) await db.transaction((tx) => stopPayouts(tx, broken));
  const resolution = 'The ledger was checked again.';
  await db.transaction((tx) => resolveOpenCase(tx, 'ledger_not_checked', 'ledger', resolution));
  const transactions = results.find(({ number }) => number === 1)?.checked ?? 0;
  return { checked: transactions, broken: broken.map(({ number }) => number) };
}

/** Opens a case when no check runs at all. Another schedule calls it. */
export async function noteLateLedgerCheck(db: Db, lateAfterMs = LATE_AFTER_MS): Promise<void> {
  const provenAt = await readProvenAt(db);
  if ((await databaseTime(db)).getTime() - provenAt.getTime() < lateAfterMs) return;
  await openNotChecked(db, 'The ledger was not proven in time. See the schedule ledger-check.');
}

async function openNotChecked(db: Db, problem: string): Promise<void> {
  const provenAt = await readProvenAt(db);
  await openCase(db, 'ledger_not_checked', 'ledger', {
    problem,
    last_proven_at: provenAt.toISOString(),
  });
}

async function stopPayouts(tx: Tx, broken: readonly InvariantResult[]): Promise<void> {
  for (const { number, name, broken: count, rows } of broken) {
    await openCase(tx, 'ledger_broken', `invariant_${number}`, { name, broken: count, rows });
  }
  const numbers = broken.map(({ number }) => number).join(', ');
  const reason = `The ledger is broken: ${broken.length === 1 ? 'invariant' : 'invariants'} ${numbers}. See the open cases and run ledger:verify.`;
  const mode = modeOf(broken);
  // The check sets a pause of its own beside those of operators, because whoever lifts one of those has
  // not seen this reason.
  const pause = await insertPause(tx, {
    ...({ scope: 'global', target: '', mode } as const),
    reason,
    createdBy: ACTOR,
  });
  if (pause === null) return;
  await appendAudit(tx, {
    actor: ACTOR,
    via: 'gateway',
    action: 'payouts.pause',
    object: 'payout_pause',
    objectId: 'global',
    accountId: null,
    before: null,
    after: presentPause(pause),
    reason,
  });
}

/**
 * The mode to pause: live when every broken row is known and of live mode, because test payouts can
 * then go on; otherwise both, because the fault that broke a test balance can break a live one.
 */
function modeOf(broken: readonly InvariantResult[]): Mode | null {
  const isLive = broken.every(
    (one) => one.rows.length === one.broken && one.rows.every((row) => row['mode'] === 'live'),
  );
  return isLive ? 'live' : null;
}
