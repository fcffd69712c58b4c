/**
 * Checks the ledger's invariants. If any is broken, pauses payouts until an operator resumes them,
 * and opens a case with the rows for each broken invariant.
 */
import { verifyLedger, type InvariantResult } from '../src/db/ledger-verify';
import { appendAudit } from '../src/db/repositories/audit-log';
import { openCase } from '../src/db/repositories/cases';
import { insertPause, lockPause } from '../src/db/repositories/payout-pauses';
import { inTransaction, type Db, type Tx } from '../src/db/transaction';

const EVERYTHING = { scope: 'global', target: '' } as const;

export async function checkLedger(db: Db): Promise<{ broken: number[] }> {
  const broken = (await verifyLedger(db)).filter((result) => result.broken > 0);
  if (broken.length > 0) await inTransaction(db, (tx) => stopPayouts(tx, broken));
  return { broken: broken.map(({ number }) => number) };
}

async function stopPayouts(tx: Tx, broken: readonly InvariantResult[]): Promise<void> {
  for (const { number, name, broken: count, rows } of broken) {
    await openCase(tx, 'ledger_broken', `invariant_${number}`, { name, broken: count, rows });
  }
  // If an operator has paused everything already, that pause and its reason stay.
  if ((await lockPause(tx, EVERYTHING)) !== null) return;
  const numbers = broken.map(({ number }) => number).join(', ');
  const reason = `The ledger is broken: invariant ${numbers}. See the open cases and run ledger:verify.`;
  const pause = await insertPause(tx, { ...EVERYTHING, reason });
  await appendAudit(tx, {
    actor: 'ledger check',
    action: 'payouts.pause',
    object: 'payout_pause',
    objectId: 'global',
    accountId: null,
    before: null,
    after: pause,
    reason,
  });
}
