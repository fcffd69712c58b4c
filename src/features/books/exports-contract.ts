/** Exports for finance on the wire (decisions/books#exports). */
import { Type } from 'typebox';
import { EXPORT_FORMATS, EXPORTS, needsOf } from '../../domain/bookkeeping';
import { validationFailed } from '../../domain/errors';
import { csvLine } from '../../platform/lib/csv';
import { queryOf, operations } from '../../kit/api/operation';
import { CREATED, CURRENCY, oneOf, type Query, readQuery } from '../../kit/api/query';

const KIND = { kind: oneOf(EXPORTS) };
const OPTIONS = {
  format: oneOf(EXPORT_FORMATS),
  currency: CURRENCY,
  ...CREATED,
};

/** @throws ApiError validation_failed with every failing parameter */
export function readExportQuery(query: Query) {
  const { kind, format = 'csv', ...period } = readQuery(KIND, query, OPTIONS);
  const needs = needsOf(format);
  if (needs.kind !== undefined && kind !== needs.kind) {
    throw validationFailed([
      { field: 'format', rule: 'unsupported', message: 'Send format as csv or json.' },
    ]);
  }
  if (needs.currency && period.currency === undefined) {
    const message = `Send currency: a file with the format ${format} has one currency.`;
    throw validationFailed([{ field: 'currency', rule: 'required', message }]);
  }
  return { kind, format, ...period };
}

const EXAMPLE = {
  id: 'txn_01M7YESA6JGXFEX3057F2JK1YJ',
  posted_at: '2026-11-21T07:05:30.633120Z',
  type: 'payin_settlement',
  source_id: 'pay_01M7YESA634WQFACSBWYSTKM76',
  reference: 'order-1',
  counterparty: null,
  network: 'tron',
  tx_hash: null,
  currency: 'USDT',
  service_fee: '1.25000000',
  network_fee: '0.00000000',
};

/** The operations of /exports. */
export const EXPORT_OPERATIONS = operations([
  {
    id: 'exportFile',
    method: 'get',
    path: '/exports',
    tag: 'Money',
    summary: 'Export a file for accounting',
    description:
      'Sends a CSV file, a JSON array with the format json, a text file with the formats beancount and hledger, or XML with the format camt053, oldest first. In every file gross less fees is net, the change of the balance. Times are those of the time zone of the account in CSV, and of UTC in JSON. The scope payouts:read is needed too, except for payments, refunds and the journal.',
    scope: 'payments:read',
    parameters: [...queryOf(KIND, true), ...queryOf(OPTIONS)],
    success: {
      status: 200,
      schema: Type.Array(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
      example: [EXAMPLE],
      texts: {
        'application/xml':
          '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">…</Document>',
        'text/csv': `${csvLine(Object.keys(EXAMPLE))}${csvLine(Object.values(EXAMPLE).map((cell) => cell ?? ''))}`,
        'text/plain':
          'decimal-mark .\n\n2026-11-21 * (2026-11-21-USDT) USDT balance, 2026-11-21\n  Assets:Crypto-balance  9.90000000 USDT\n  Expenses:Gateway-fees  0.10000000 USDT\n  Income:Sales  -10.00000000 USDT\n',
      },
    },
    errors: ['validation_failed', 'insufficient_scope'],
  },
]);
