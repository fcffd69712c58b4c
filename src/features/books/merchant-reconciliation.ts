/** Compares a merchant's list with the gateway's records, by API and dashboard. Nothing is stored. */
import { readMissing, readRecorded } from '../../db/books/merchant-reconciliation';
import type { Reader } from '../../db/transaction';
import {
  compareRows,
  missingRow,
  type Outcome,
  OUTCOMES,
  RECONCILED_ROWS_MAX,
  type Reconciliation,
  type ReconciliationRequest,
  type RecordedObjects,
  totalsOf,
} from '../../domain/merchant-reconciliation';
import type { Owner } from '../../domain/mode';

/** The number of references in one SQL statement. */
const LOOKED_UP = 1_000;

/** @param db as the account sees it */
export async function reconcile(
  db: Reader,
  owner: Owner,
  { kind, createdFrom, createdTo, rows: expected }: ReconciliationRequest,
): Promise<Reconciliation> {
  const references = [...new Set(expected.map(({ reference }) => reference))];
  const recorded: RecordedObjects[] = [];
  for (let from = 0; from < references.length; from += LOOKED_UP) {
    const some = references.slice(from, from + LOOKED_UP);
    recorded.push(...(await readRecorded(db, owner, kind, some)));
  }
  const max = RECONCILED_ROWS_MAX + 1;
  const missing = await readMissing(db, owner, kind, references, { createdFrom, createdTo, max });
  const shown = missing.slice(0, RECONCILED_ROWS_MAX);
  const rows = [...compareRows(expected, recorded), ...shown.map(missingRow)];
  const count = (outcome: Outcome) => rows.filter((row) => row.outcome === outcome).length;
  const counts = Object.fromEntries(OUTCOMES.map((one) => [one, count(one)]));
  return {
    kind,
    counts: counts as Record<Outcome, number>,
    totals: totalsOf(rows),
    rows,
    hasMoreMissing: missing.length > shown.length,
  };
}
