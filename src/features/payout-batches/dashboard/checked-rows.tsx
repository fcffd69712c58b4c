/** The rows of a batch or a schedule for their review: names, networks, fees, duplicates, and who approves. */
import { add } from '../../../domain/money';
import { Money, words } from '../../../kit/pages/components';
import { faultText } from '../../../kit/pages/fault-text';
import type { SheetRow } from '../../../kit/pages/sheet-review';
import type { BatchCheck } from '../payout-batches';

type Checked = Pick<BatchCheck, 'faults' | 'rows' | 'routed' | 'recipientNames'>;

/** Columns that are shown although a table does not have them, so that they can be filled in. */
const ALWAYS = ['reference', 'amount', 'currency', 'destination', 'network', 'memo'];

/** The columns to correct: those that the table uses, and those that a row may lack. */
export function shownColumns(
  lines: readonly Readonly<Record<string, string>>[],
  known: readonly string[],
): string[] {
  const isUsed = (name: string) => lines.some((line) => (line[name] ?? '') !== '');
  return known.filter((name) => ALWAYS.includes(name) || isUsed(name));
}

export function checkedRows(
  lines: readonly Readonly<Record<string, string>>[],
  { faults, rows, routed, recipientNames }: Checked,
): SheetRow[] {
  const faultOf = new Map(faults.map((fault) => [fault.row, faultText(fault)]));
  const routes = new Map(routed.map((one, index) => [one.row, { ...one, terms: rows[index] }]));
  const earlier = duplicatesOf(routed);
  return lines.map((cells, index) => {
    const row = index + 1;
    const found = routes.get(row);
    const same = earlier.get(row);
    const name = recipientNames.get(found?.request.recipient ?? '') ?? cells['beneficiary_name'];
    const currency = found?.request.currency ?? '';
    const fees = found?.terms == null ? null : add(found.terms.serviceFee, found.route.networkFee);
    return {
      row,
      cells,
      fault: faultOf.get(row) ?? null,
      notes: same === undefined ? [] : [`Row ${same} has the same recipient and amount.`],
      facts: {
        ...(name === undefined || name === '' ? {} : { Name: name }),
        ...(found === undefined || found.route.network === cells['network']
          ? {}
          : { 'Sent over': words(found.route.network ?? found.route.provider) }),
        ...(fees === null ? {} : { Fees: <Money amount={fees} currency={currency} /> }),
      },
    };
  });
}

/** Rows that pay the same amount to the same destination as an earlier row, with that row. */
function duplicatesOf(routed: BatchCheck['routed']): Map<number, number> {
  const first = new Map<string, number>();
  const duplicates = new Map<number, number>();
  for (const { row, request } of routed) {
    const { amount, currency, destination } = request;
    const { value, memo } = destination;
    const key = JSON.stringify([amount, currency, value.toLowerCase(), memo ?? '']);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, row);
    else duplicates.set(row, earlier);
  }
  return duplicates;
}
