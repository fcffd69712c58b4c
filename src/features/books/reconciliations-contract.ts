/**
 * A merchant's list, compared with the gateway's records, on the wire
 * (decisions/books#merchant-reconciliation).
 */
import { type Static, Type } from 'typebox';
import { ApiError, type FieldError, validationFailed } from '../../domain/errors';
import { ISO_TIME_PATTERN, parseIsoTime } from '../../domain/iso-time';
import {
  DIFFERENCES,
  type ExpectedRow,
  OUTCOMES,
  RECONCILED,
  RECONCILED_DAYS_MAX,
  RECONCILED_ROWS_MAX,
  type ReconciliationRequest,
  type ReconciledRow,
  type Reconciliation,
} from '../../domain/merchant-reconciliation';
import { amount } from '../../domain/money';
import {
  compileBody,
  type Json,
  RequestAmount,
  RequestChoice,
  RequestCurrency,
  RequestText,
} from '../../kit/api/body';
import { AmountText, CurrencyCode, OneOf, OrNull, Shape, Wrapped } from '../../kit/api/common';
import { operations } from '../../kit/api/operation';

const Time = Type.String({
  pattern: ISO_TIME_PATTERN,
  description: 'An ISO 8601 date, or a time with a zone, such as "2026-01-31"',
});
const HEAD = { object: RequestChoice(RECONCILED), created_from: Time, created_to: Time };
const RowBody = Type.Object(
  {
    reference: RequestText(64, 'Text of at most 64 characters without NUL'),
    amount: RequestAmount,
    currency: RequestCurrency,
  },
  { additionalProperties: false, description: 'A row of the list' },
);
const ROWS = {
  minItems: 1,
  maxItems: RECONCILED_ROWS_MAX,
  description: `1 to ${RECONCILED_ROWS_MAX.toLocaleString('en')} rows`,
};
const CLOSED = { additionalProperties: false, description: 'A list to compare' };

/** The body of POST /reconciliations. */
export const ReconciliationBody = Type.Object({ ...HEAD, rows: Type.Array(RowBody, ROWS) }, CLOSED);

/** The rows are read one by one, so that every faulty row is named. */
const readHead = compileBody(Type.Object({ ...HEAD, rows: Type.Array(Type.Any(), ROWS) }, CLOSED));
const readRowBody = compileBody(RowBody);

const FAULTS_MAX = 100;

/** @throws ApiError validation_failed with the failing fields */
export function readReconciliationRequest(json: Json): ReconciliationRequest {
  const body = readHead(json, periodErrors);
  const faults: FieldError[] = [];
  const rows: ExpectedRow[] = [];
  for (const [index, row] of (json['rows'] as unknown[]).entries()) {
    const read = readExpectedRow(row, `rows.${index}`);
    if (Array.isArray(read)) faults.push(...read);
    else rows.push(read);
    if (faults.length >= FAULTS_MAX) break;
  }
  if (faults.length > 0) throw validationFailed(faults);
  return {
    kind: body.object,
    createdFrom: parseIsoTime(body.created_from, 'from') ?? '',
    createdTo: parseIsoTime(body.created_to, 'to') ?? '',
    rows,
  };
}

/** @param name of the row, which is in front of the names of the failing fields */
export function readExpectedRow(json: unknown, name: string): ExpectedRow | FieldError[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    const message = `Send ${name} as an object with reference, amount and currency.`;
    return [{ field: name, rule: 'type', message }];
  }
  try {
    const row = readRowBody(json as Json);
    return { ...row, amount: amount(row.amount) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.refusal.code !== 'validation_failed') throw error;
    return error.refusal.details.fields.map((fault) => ({
      ...fault,
      field: `${name}.${fault.field}`,
    }));
  }
}

const DAY_MS = 86_400_000;

function periodErrors({ created_from: from, created_to: to }: Json): FieldError[] {
  const refuse = (field: string, message: string): FieldError[] => [
    { field, rule: 'out_of_range', message },
  ];
  const start = typeof from === 'string' ? parseIsoTime(from, 'from') : '';
  const end = typeof to === 'string' ? parseIsoTime(to, 'to') : '';
  if (start === null) return refuse('created_from', 'Send created_from as a day that exists.');
  if (end === null) return refuse('created_to', 'Send created_to as a day that exists.');
  const days = (new Date(end).getTime() - new Date(start).getTime()) / DAY_MS;
  if (days < 0) return refuse('created_to', 'Send created_to as a time after created_from.');
  if (days <= RECONCILED_DAYS_MAX) return [];
  const message = `Send created_to as a time at most ${RECONCILED_DAYS_MAX} days after created_from.`;
  return refuse('created_to', message);
}

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** A compared list (decisions/books#merchant-reconciliation). */
export const ReconciliationObject = Shape(
  {
    object: Type.Literal('reconciliation'),
    of: OneOf(RECONCILED, 'The kind of the compared objects'),
    counts: Shape(
      {
        matched: Count('Rows whose amount has moved'),
        different: Count('Rows with a difference'),
        unknown: Count('Rows whose reference the gateway does not know'),
        missing: Count('Objects that the list does not have'),
      },
      'The number of rows with each outcome',
    ),
    totals: Type.Array(
      Shape(
        {
          currency: CurrencyCode,
          expected: AmountText('The sum of the list'),
          recorded: AmountText('The sum that has moved'),
        },
        'The sums of a currency',
      ),
      { description: 'The sums of each currency' },
    ),
    rows: Type.Array(
      Shape(
        {
          row: OrNull(
            Type.Integer({ minimum: 1 }),
            'The number of the row, from 1; null for an object that the list does not have',
          ),
          outcome: OneOf(OUTCOMES, 'The result of the comparison'),
          difference: OrNull(
            OneOf(DIFFERENCES, 'What is different'),
            'What is different; null for another outcome',
          ),
          reference: OrNull(Type.String(), 'Your reference; null for an object without one'),
          currency: CurrencyCode,
          expected_amount: OrNull(AmountText('An amount'), 'The amount of the list'),
          recorded_amount: OrNull(
            AmountText('An amount'),
            'The amount that has moved for the reference, in recorded_currency',
          ),
          recorded_currency: OrNull(CurrencyCode, 'The currency of the objects'),
          objects: Count('The number of objects with the reference and the currency'),
          object_id: OrNull(Type.String(), 'The ID of the newest of them'),
          status: OrNull(Type.String(), 'The status of the object with object_id'),
        },
        'A row of the list, or an object that it does not have',
      ),
      { description: 'The rows in their order, and then the objects that the list does not have' },
    ),
    has_more_missing: Type.Boolean({
      description: `Whether more than ${RECONCILED_ROWS_MAX.toLocaleString('en')} objects are missing. Shorten the period then.`,
    }),
  },
  'A list that was compared',
);

export type ReconciliationObject = Static<typeof ReconciliationObject>;

const EXAMPLE: ReconciliationObject = {
  object: 'reconciliation',
  of: 'payment',
  counts: { matched: 1, different: 1, unknown: 0, missing: 0 },
  totals: [{ currency: 'USDT', expected: '140.00000000', recorded: '140.50000000' }],
  rows: [
    {
      row: 1,
      outcome: 'matched',
      difference: null,
      reference: 'order-1',
      currency: 'USDT',
      expected_amount: '100.00000000',
      recorded_amount: '100.00000000',
      recorded_currency: 'USDT',
      objects: 1,
      object_id: 'pay_01M7YESA634WQFACSBWYSTKM76',
      status: 'completed',
    },
    {
      row: 2,
      outcome: 'different',
      difference: 'amount',
      reference: 'order-2',
      currency: 'USDT',
      expected_amount: '40.00000000',
      recorded_amount: '40.50000000',
      recorded_currency: 'USDT',
      objects: 1,
      object_id: 'pay_01M7YESA6JGXFEX3057F2JK1YJ',
      status: 'completed',
    },
  ],
  has_more_missing: false,
};

/** The operations of /reconciliations. */
export const RECONCILIATION_OPERATIONS = operations([
  {
    id: 'createReconciliation',
    method: 'post',
    path: '/reconciliations',
    tag: 'Money',
    summary: 'Compare your records with the gateway',
    description:
      'Compares a list of references and amounts with what has moved: what customers have paid, what payouts have sent, or what refunds have returned. Objects that were created in the period and that the list does not have follow as missing. Nothing is stored. The scope payouts:read is needed too for payouts.',
    scope: 'payments:read',
    parameters: [],
    body: {
      schema: ReconciliationBody,
      examples: {
        orders: {
          object: 'payment',
          created_from: '2026-11-01',
          created_to: '2026-11-30',
          rows: [
            { reference: 'order-1', amount: '100', currency: 'USDT' },
            { reference: 'order-2', amount: '40', currency: 'USDT' },
          ],
        },
      },
    },
    success: { status: 200, schema: Wrapped(ReconciliationObject), example: { data: EXAMPLE } },
    errors: [
      'invalid_json',
      'insufficient_scope',
      'payload_too_large',
      'unsupported_media_type',
      'validation_failed',
    ],
  },
]);

/** A compared list in API responses. */

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
