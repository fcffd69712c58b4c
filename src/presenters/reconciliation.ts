/** A compared list in API responses. */
import type { ReconciledRow, Reconciliation } from '../domain/merchant-reconciliation';
import type { ReconciliationObject } from '../schemas/reconciliations';

export function presentReconciliation(result: Reconciliation): ReconciliationObject {
  const { kind, counts, totals, rows, hasMoreMissing } = result;
  return {
    object: 'reconciliation',
    of: kind,
    counts,
    totals,
    rows: rows.map(presentRow),
    has_more_missing: hasMoreMissing,
  };
}

function presentRow(row: ReconciledRow): ReconciliationObject['rows'][number] {
  const { recorded, expected, ...head } = row;
  return {
    row: head.row,
    outcome: head.outcome,
    difference: head.difference,
    reference: head.reference,
    currency: head.currency,
    expected_amount: expected,
    recorded_amount: recorded?.amount ?? null,
    recorded_currency: recorded?.currency ?? null,
    objects: recorded?.objects ?? 0,
    object_id: recorded?.id ?? null,
    status: recorded?.status ?? null,
  };
}
