/**
 * Every text of every operation with 60 KB of hostile input: no check of input may take more than a
 * linear number of steps, because one request would stall the whole process.
 */
import { LosslessNumber } from 'lossless-json';
import type { TSchema } from 'typebox';
import { isId } from '../../../src/domain/ids';
import { parseApiKey } from '../../../src/domain/api-key';
import { ApiError } from '../../../src/domain/errors';
import { clientAddress } from '../../../src/platform/lib/client-address';
import { parseJsonObject } from '../../../src/kit/api/json-text';
import { createPagination } from '../../../src/kit/api/pagination';
import { OPERATIONS } from '../../../src/openapi/document';
import type { Json } from '../../../src/kit/api/body';
import {
  readApiKeyQuery,
  readApiKeyRequest,
} from '../../../src/features/api-keys/api-keys-contract';
import { readEventQuery } from '../../../src/features/webhooks/events-contract';
import { readFeeQuoteQuery } from '../../../src/features/accounts/fees-contract';
import {
  readPaymentQuery,
  readPaymentRequest,
} from '../../../src/features/payments/payments-contract';
import {
  readRecipientChange,
  readRecipientQuery,
  readRecipientRequest,
} from '../../../src/features/recipients/recipients-contract';
import {
  readLeaveOutRequest,
  readPayoutBatchQuery,
  readPayoutBatchRequest,
} from '../../../src/features/payout-batches/payout-batches-contract';
import {
  readPayoutScheduleQuery,
  readPayoutScheduleRequest,
} from '../../../src/features/payout-schedules/payout-schedules-contract';
import {
  readPaymentRefundQuery,
  readRefundQuery,
  readRefundRequest,
} from '../../../src/features/payments/refunds-contract';
import { readPayoutQuery, readPayoutRequest } from '../../../src/features/payouts/payouts-contract';
import type { Query } from '../../../src/kit/api/query';
import { readExportQuery } from '../../../src/features/books/exports-contract';
import { readReconciliationRequest } from '../../../src/features/books/reconciliations-contract';
import { readRequestLogQuery } from '../../../src/features/request-log/request-logs-contract';
import { readTransactionQuery } from '../../../src/features/books/transactions-contract';
import {
  readWebhookDeliveryQuery,
  readWebhookEndpointChange,
  readWebhookEndpointQuery,
  readWebhookEndpointRequest,
} from '../../../src/features/webhooks/webhooks-contract';
import { checkWebhookUrl } from '../../../src/adapters/webhooks/url-policy';

const BYTES = 60_000;
/** CPU time. A linear check takes 1 to 20 ms, a quadratic one seconds. */
const BUDGET_MS = 250;
const ATTEMPTS = 3;
/** For values that are parsed already. */
const CROWD_BUDGET_MS = 250;

/** Repeats the text to the length of a body of 60 KB, where JSON escapes some characters. */
function repeat(text: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(text)) - '""'.length;
  return text.repeat(Math.floor(BYTES / bytes));
}

const HOSTILE: Record<string, string> = {
  'an address of dots': `a@${repeat('.')}@`,
  'an address of labels': `a@${repeat('a.')}@`,
  'an address of hyphens': `a@a${repeat('-')}!`,
  'many @': `${repeat('@a.')}@`,
  letters: `${repeat('a')}!`,
  digits: `${repeat('0')}x`,
  'a number': `${repeat('0')}.${repeat('0')}x`,
  'an exponent': `1e${repeat('9')}`,
  spaces: `${repeat(' ')}x`,
  tabs: `${repeat('\t')}x`,
  'line breaks': `${repeat('\r\n')}x`,
  NUL: repeat('\0'),
  'halves of characters': repeat('\ud800'),
  'combining marks': `a${repeat('\u0301')}`,
  emoji: repeat('💶'),
  slashes: `https://${repeat('/')}`,
  'a URL of dots': `https://${repeat('.')}x`,
  'user info': `https://${repeat('a:@')}`,
  'a query': `https://shop.example/?${repeat('%2')}`,
  'an IPv6 address': `https://[${repeat(':')}]`,
  commas: repeat(','),
  brackets: repeat('['),
  backslashes: repeat('\\'),
  quotes: repeat('"'),
};

const BODIES: Record<string, (json: Json) => unknown> = {
  createPayment: (json) => readPaymentRequest(json, 'live'),
  createPayout: readPayoutRequest,
  createPayoutBatch: readPayoutBatchRequest,
  createPayoutSchedule: readPayoutScheduleRequest,
  createRecipient: readRecipientRequest,
  updateRecipient: readRecipientChange,
  leaveOutPayoutBatchRows: readLeaveOutRequest,
  createRefund: readRefundRequest,
  createApiKey: readApiKeyRequest,
  createWebhookEndpoint: readWebhookEndpointRequest,
  updateWebhookEndpoint: readWebhookEndpointChange,
  createReconciliation: readReconciliationRequest,
};
const QUERIES: Record<string, (query: Query) => unknown> = {
  listEvents: readEventQuery,
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
  quoteFee: readFeeQuoteQuery,
  listApiKeys: readApiKeyQuery,
  listWebhookEndpoints: readWebhookEndpointQuery,
  listWebhookDeliveries: readWebhookDeliveryQuery,
  listRequestLogs: readRequestLogQuery,
};

interface Check {
  name: string;
  run(text: string): unknown;
}

const withBody = OPERATIONS.filter(({ body }) => body !== undefined);
const withQuery = OPERATIONS.filter(({ parameters }) => parameters.some((p) => p.in === 'query'));

test('each operation with input has its reader here', () => {
  expect(withBody.map(({ id }) => id).sort()).toEqual(Object.keys(BODIES).sort());
  expect(withQuery.map(({ id }) => id).sort()).toEqual(Object.keys(QUERIES).sort());
});

const pagination = createPagination('https://pay.example.com', 'a secret');
const caller = { apiKeyId: 'key_1', accountId: 'acc_1', mode: 'test', scopes: [] } as const;
const URL_RULES = { ownHosts: [], allowedHosts: [] };
const list = { caller, path: '/api/v1/payouts', filters: {}, limit: 25 };

const CHECKS: Check[] = [
  ...withBody.flatMap(({ id, body }) => {
    const [example = {}] = Object.values(body?.examples ?? {});
    return [
      ...fieldsOf(body!.schema).map((path) => ({
        name: `${id}: ${path.join('.')}`,
        run: (text: string) => BODIES[id]!(withValue(example as Json, path, text)),
      })),
      {
        name: `${id}: a number as the amount`,
        run: (text: string) => BODIES[id]!(parseJsonObject(withAmount(example, digitsOf(text)))),
      },
      {
        name: `${id}: an unknown field`,
        run: (text: string) => BODIES[id]!(withValue(example as Json, [text], 'x')),
      },
      {
        name: `${id}: a key of the metadata`,
        run: (text: string) => BODIES[id]!(withValue(example as Json, ['metadata', text], 'x')),
      },
    ];
  }),
  ...withQuery.flatMap(({ id, parameters }) =>
    parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => ({
        name: `${id}: the parameter ${name}`,
        run: (text: string) => QUERIES[id]!({ [name]: text }),
      })),
  ),
  { name: 'the body itself', run: (text) => parseJsonObject(Buffer.from(text)) },
  {
    name: 'a text and a key in a body',
    run: (text) =>
      parseJsonObject(
        Buffer.from(JSON.stringify({ a: text.slice(0, text.length / 2), [text]: 1 })),
      ),
  },
  { name: 'an id', run: (text) => isId('payout', `po_${text}`) },
  { name: 'an API key', run: (text) => parseApiKey(`sk_test_${text}`) },
  { name: 'a cursor', run: (text) => pagination.readCursor(list, text) },
  { name: 'X-Forwarded-For', run: (text) => clientAddress('127.0.0.1', text, 1) },
  { name: 'a webhook URL', run: (text) => checkWebhookUrl(text, 'live', URL_RULES) },
];

test.each(CHECKS)('$name: 60 KB of any shape cost little to check', ({ run }) => {
  const slow = Object.entries(HOSTILE)
    .map(([shape, text]) => [shape, fastestMs(() => run(text))] as const)
    .filter(([, ms]) => ms > BUDGET_MS);
  expect(slow).toEqual([]);
});

/** A fifth of what a body may have. */
const ELEMENTS = 100_000;
const CROWDS: Record<string, unknown> = {
  numbers: new Array(ELEMENTS).fill(new LosslessNumber('1')),
  'empty objects': Array.from({ length: ELEMENTS }, () => ({})),
  texts: new Array(ELEMENTS).fill('x'),
  'empty lists': Array.from({ length: ELEMENTS }, () => []),
  keys: Object.fromEntries(Array.from({ length: ELEMENTS }, (_, n) => [`k${n}`, 'x'])),
};

test.each(
  withBody.flatMap(({ id, body }) => {
    const [example = {}] = Object.values(body?.examples ?? {});
    const names = [...Object.keys((body!.schema as Walked).properties ?? {}), 'unknown'];
    return names.map((name) => ({ id, name, example: example as Json }));
  }),
)('$id: $name with a crowd of values is refused before each of them is checked', (field) => {
  const { id, name, example } = field;
  const slow = Object.entries(CROWDS)
    .map(([what, crowd]) => [what, fastestMs(() => BODIES[id]!({ ...example, [name]: crowd }))])
    .filter(([, ms]) => Number(ms) > CROWD_BUDGET_MS);
  expect(slow).toEqual([]);
});

/** The fastest of three: the first one may include the compiler and the garbage of others. */
function fastestMs(check: () => unknown): number {
  let fastest = Infinity;
  for (let n = 0; n < ATTEMPTS && fastest > BUDGET_MS; n++) {
    const before = process.cpuUsage();
    try {
      check();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    fastest = Math.min(fastest, process.cpuUsage(before).user / 1_000);
  }
  return fastest;
}

function withAmount(example: object, digits: string): Buffer {
  return Buffer.from(
    JSON.stringify({ ...example, amount: 0 }).replace('"amount":0', `"amount":${digits}`),
  );
}

function withValue(object: Json, [name = '', ...rest]: string[], value: unknown): Json {
  if (rest.length === 0) return { ...object, [name]: value };
  return { ...object, [name]: withValue((object[name] ?? {}) as Json, rest, value) };
}

/** The longest start of the text that is a JSON number, or a number of as many digits. */
function digitsOf(text: string): string {
  return text.startsWith('1e') ? text : `${'9'.repeat(text.length)}.5e-7`;
}

interface Walked {
  type?: string;
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
}

/** The paths of all fields that are text; a key of a record is `key`. */
function fieldsOf(schema: TSchema): string[][] {
  const { properties, patternProperties } = schema as Walked;
  const members = {
    ...properties,
    ...Object.fromEntries(
      Object.values(patternProperties ?? {}).map((value) => ['key', value] as const),
    ),
  };
  if (Object.keys(members).length === 0) return [[]];
  return Object.entries(members).flatMap(([name, member]) =>
    fieldsOf(member).map((path) => [name, ...path]),
  );
}
