/** The payouts of a batch or of a schedule, read from a table that a merchant uploads (kit/pages/sheet.ts). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowFault } from '../../../domain/batch-terms';
import { BATCH_ROWS_MAX } from '../../../domain/payout-batch';
import { SCHEDULE_ROWS_MAX } from '../../../domain/payout-schedule';
import type { Json } from '../../../kit/api/body';
import { readPayoutRow, readScheduledRow } from '../../payouts/payouts-contract';
import { ApiError, type FieldError } from '../../../domain/errors';
import type { PayoutOrder, SentPayoutOrder } from '../../../domain/payout';
import {
  decimalStyleOf,
  type DecimalStyle,
  destinationCells,
  plainAmount,
  readLines,
  ROWS_IN_A_TURN,
  type TableShape,
  writeSheet,
} from '../../../kit/pages/sheet';
import { rowFault } from '../../../kit/pages/fault-text';

/** The columns of any payout. The first three are required, and a destination or a recipient. */
export const SCHEDULE_COLUMNS = [
  'reference',
  'amount',
  'currency',
  'destination',
  'network',
  'memo',
  'type',
  'provider',
  'description',
  'recipient',
] as const;
const BENEFICIARY_COLUMNS = [
  'beneficiary_name',
  'beneficiary_kind',
  'beneficiary_institution',
] as const;
/** The columns of a batch, in the order of the template. */
export const COLUMNS = [...SCHEDULE_COLUMNS, ...BENEFICIARY_COLUMNS] as const;
type Column = (typeof COLUMNS)[number];
const REQUIRED: readonly Column[] = COLUMNS.slice(0, 3);

interface SheetOf<Order> {
  /** Each row as it was written, by column. */
  lines: Record<string, string>[];
  rows: (Order | RowFault)[];
}
export type Sheet = SheetOf<SentPayoutOrder>;

/** The rows of a batch. @throws SheetFault */
export function readSheet(text: string): Promise<Sheet> {
  const shape = { columns: COLUMNS, required: REQUIRED, rowsMax: BATCH_ROWS_MAX };
  return readTable(text, shape, readPayoutRow);
}

/** The rows of a schedule. @throws SheetFault */
export function readScheduleSheet(text: string): Promise<SheetOf<PayoutOrder>> {
  const shape = { columns: SCHEDULE_COLUMNS, required: REQUIRED, rowsMax: SCHEDULE_ROWS_MAX };
  return readTable(text, shape, readScheduledRow);
}

async function readTable<Order>(
  text: string,
  shape: TableShape,
  read: (json: Json) => Order,
): Promise<SheetOf<Order>> {
  const lines = readLines(text, shape);
  const style = decimalStyleOf(lines.map(({ amount = '' }) => amount));
  const rows: (Order | RowFault)[] = [];
  for (const line of lines) {
    rows.push(readRow(line, rows.length + 1, style, read));
    if (rows.length % ROWS_IN_A_TURN === 0) await nextTurn();
  }
  return { lines, rows };
}

function readRow<Order>(
  line: Record<string, string>,
  row: number,
  style: DecimalStyle,
  read: (json: Json) => Order,
): Order | RowFault {
  const reference = line['reference'] ?? null;
  const amount = plainAmount(line['amount'] ?? '', style);
  if (amount === null) {
    const message = `${line['amount'] ?? ''} is not clear. Write amounts without separators of thousands, and with one decimal separator in the whole table.`;
    return faultOf(row, reference, [{ field: 'amount', rule: 'format', message }]);
  }
  try {
    return read(requestOf(line, amount));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return rowFault(row, reference, error);
  }
}

function faultOf(row: number, reference: string | null, fields: FieldError[]): RowFault {
  return { row, reference, refusal: { code: 'validation_failed', details: { fields } } };
}

function requestOf(line: Record<string, string>, amount: string) {
  const given = (name: Column) => {
    const text = line[name] ?? '';
    return text === '' ? {} : { [name]: text };
  };
  const isToRecipient = (line['recipient'] ?? '') !== '' && (line['destination'] ?? '') === '';
  return {
    amount,
    ...given('currency'),
    ...given('reference'),
    ...given('network'),
    ...given('provider'),
    ...given('description'),
    ...given('recipient'),
    ...beneficiaryCells(line),
    ...(isToRecipient ? {} : { destination: destinationCells(line) }),
  };
}

function beneficiaryCells(line: Record<string, string>) {
  const [name = '', kind = '', institution = ''] = BENEFICIARY_COLUMNS.map((one) => line[one]);
  if (name === '' && kind === '' && institution === '') return {};
  return {
    beneficiary: {
      ...(name === '' ? {} : { name }),
      ...(kind === '' ? {} : { kind }),
      ...(institution === '' ? {} : { institution }),
    },
  };
}

export const TEMPLATE = writeSheet([
  COLUMNS,
  [
    'payroll-2026-11-001',
    '250.00',
    'USDT',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    'tron',
    '',
    'crypto_address',
    '',
    'Payroll, November',
    '',
    '',
    '',
    '',
  ],
]);
