/** What tools in other languages make of openapi.json, and whether it refuses what the server refuses. */
import { execFileSync } from 'node:child_process';
import { type TSchema, Type } from 'typebox';
import { findOnPath } from '../../../src/dev/processes';
import { describeWithProgram } from '../../support/optional-program';
import { ApiError } from '../../../src/domain/errors';
import { readApiKeyQuery } from '../../../src/features/api-keys/api-keys-contract';
import { readEventQuery } from '../../../src/features/webhooks/events-contract';
import { readFeeQuoteQuery } from '../../../src/features/accounts/fees-contract';
import { readPaymentQuery } from '../../../src/features/payments/payments-contract';
import { readRecipientQuery } from '../../../src/features/recipients/recipients-contract';
import { readPayoutBatchQuery } from '../../../src/features/payout-batches/payout-batches-contract';
import { readPayoutScheduleQuery } from '../../../src/features/payout-schedules/payout-schedules-contract';
import {
  readPaymentRefundQuery,
  readRefundQuery,
} from '../../../src/features/payments/refunds-contract';
import { readPayoutQuery } from '../../../src/features/payouts/payouts-contract';
import type { Query } from '../../../src/kit/api/query';
import { readExportQuery } from '../../../src/features/books/exports-contract';
import { readRequestLogQuery } from '../../../src/features/request-log/request-logs-contract';
import { readTransactionQuery } from '../../../src/features/books/transactions-contract';
import {
  readWebhookDeliveryQuery,
  readWebhookEndpointQuery,
} from '../../../src/features/webhooks/webhooks-contract';
import { OPERATIONS } from '../../../src/openapi/document';
import { DOCUMENT, escapePointer, violations } from '../../support/merchant/contract';

const ULID = '01M7YESA634WQFACSBWYSTKM76';

/** Sent as every query parameter, and matched with every pattern. */
const TEXTS = [
  ...[
    '',
    ' ',
    ',',
    '.',
    '\0',
    '\n',
    'null',
    'true',
    '[]',
    '%',
    "'",
    '\\',
    'é',
    '𝟙',
    'a'.repeat(65),
  ],
  ...['USDT', 'usdt', 'USDT ', ' USDT', 'USDT,USDC', 'U', 'U'.repeat(13), 'ＵＳＤＴ'],
  ...['0', '-1', '1', '+1', '01', '1.0', '25', '26', '100', '101', '1e2', '0x10', '١'],
  ...['0.0', '00.00', '0.00000001', '0.000000001', '.5', '5.', '125.50', '1,5', 'NaN', 'Infinity'],
  ...['9'.repeat(18), '9'.repeat(19), `${'9'.repeat(18)}.99999999`],
  ...[
    '2026-01-31',
    '2026-1-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-32',
    '0026-01-01',
    '20260131',
  ],
  ...['2026-01-31T12:00:00Z', '2026-01-31T12:00Z', '2026-01-31T12:00:00', '2026-01-31T24:00:00Z'],
  ...['2026-01-31T12:00:00.1234567Z', '2026-01-31T12:00:00 02:00', '2026-01-31 12:00:00Z'],
  ...['created', 'completed', 'created,', ',created', 'created,created', 'created,completed'],
  ...['created, completed', 'created;completed', 'Created', 'requested,failed', 'unknown'],
  ...['payment.completed', 'paymentxcompleted', 'payment.completed,payout.failed', 'webhook.ping'],
  ...['onchain_provider', 'onchain_provider,exchange_pay', 'payout', 'payin', 'payment', 'latest'],
  ...['pay', 'rf', 'po', 'evt', 'txn', 'adj'].map((prefix) => `${prefix}_${ULID}`),
  ...[`pay_${ULID.toLowerCase()}`, `pay_${ULID}0`, `pay_U${ULID.slice(1)}`, 'latest,latest'],
  ...['order-1', 'order 1', 'order_1', 'order#1', 'a@b.example', '@b.example', 'a@b', 'a@b..c'],
];

const READERS: Record<string, (query: Query) => unknown> = {
  listPayments: readPaymentQuery,
  listPayoutBatches: readPayoutBatchQuery,
  listPayoutSchedules: readPayoutScheduleQuery,
  listPayoutScheduleRuns: readPayoutScheduleQuery,
  listPaymentRefunds: readPaymentRefundQuery,
  listPayouts: readPayoutQuery,
  listRecipients: readRecipientQuery,
  listRefunds: readRefundQuery,
  listTransactions: readTransactionQuery,
  exportFile: readExportQuery,
  listEvents: readEventQuery,
  quoteFee: readFeeQuoteQuery,
  listApiKeys: readApiKeyQuery,
  listWebhookEndpoints: readWebhookEndpointQuery,
  listWebhookDeliveries: readWebhookDeliveryQuery,
  listRequestLogs: readRequestLogQuery,
};

const PARAMETERS = OPERATIONS.flatMap(({ id, path, method, parameters }) =>
  parameters.flatMap((parameter, index) =>
    parameter.in === 'query' ? [{ id, ...parameter, path, method, index }] : [],
  ),
);

test.each(PARAMETERS)('$id: the document and the server accept the same for $name', (parameter) => {
  const { id, name, schema, path, method, index } = parameter;
  const pointer = `/paths/${escapePointer(path)}/${method}/parameters/${index}/schema`;
  const accepted = TEXTS.filter((text) => violations(pointer, asSent(schema, text)).length === 0);
  expect(accepted).not.toContain('');
  // What is in a cursor only its gateway knows.
  if (name === 'cursor') return;
  expect(accepted).toEqual(TEXTS.filter((text) => !isRefused(READERS[id]!, name, text)));
});

/** Tools read a number or a list from the text if the schema asks for one. */
function asSent(schema: TSchema, text: string): string | number | string[] {
  if (Type.IsArray(schema)) return text.split(',');
  return Type.IsInteger(schema) && /^-?(0|[1-9][0-9]*)$/.test(text) ? Number(text) : text;
}

function isRefused(read: (query: Query) => unknown, name: string, text: string): boolean {
  try {
    read({ [name]: text });
    return false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fields = error.details?.['fields'] as { field: string; rule: string }[];
    return fields.some(({ field, rule }) => field === name && rule !== 'required');
  }
}

const PATTERNS = [
  ...new Set(
    [...JSON.stringify(DOCUMENT).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = '']) => JSON.parse(text) as string,
    ),
  ),
];

test('no pattern needs what Go, Java or JavaScript without the u flag lack', () => {
  expect(PATTERNS.length).toBeGreaterThan(15);
  // Unicode classes, \u, look-around and references.
  expect(PATTERNS.filter((pattern) => /\\[pPuU1-9]|\(\?/.test(pattern))).toEqual([]);
  for (const pattern of PATTERNS) {
    const [old, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
    expect(TEXTS.filter((text) => old.test(text))).toEqual(
      TEXTS.filter((text) => unicode.test(text)),
    );
  }
});

const python = findOnPath('python3');

describeWithProgram(python, 'Install Python 3.', 'the patterns of openapi.json', () => {
  test('Python matches the patterns as JavaScript does', () => {
    const script = `
import json, re, sys
given = json.load(sys.stdin)
print(json.dumps([[text for text in given["texts"] if re.search(pattern, text)] for pattern in given["patterns"]]))`;
    // In Python, $ matches before a last line break as well.
    const texts = TEXTS.filter((text) => !text.endsWith('\n'));
    const input = JSON.stringify({ texts, patterns: PATTERNS });
    const found = execFileSync(python!, ['-c', script], { input, encoding: 'utf8' });
    expect(JSON.parse(found)).toEqual(
      PATTERNS.map((pattern) => texts.filter((text) => new RegExp(pattern).test(text))),
    );
  });
});
