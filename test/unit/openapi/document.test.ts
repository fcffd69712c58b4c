/** openapi.json: valid, up to date, and true of the schemas and the router. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERRORS } from '../../../src/domain/errors';
import { buildDocument } from '../../../src/openapi/document';
import { OPERATIONS } from '../../../src/openapi/document';
import { parseJsonObject } from '../../../src/http/json-text';
import { readPaymentRequest } from '../../../src/schemas/payments';
import { readRecipientChange, readRecipientRequest } from '../../../src/schemas/recipients';
import { readLeaveOutRequest, readPayoutBatchRequest } from '../../../src/schemas/payout-batches';
import { readApiKeyRequest } from '../../../src/schemas/api-keys';
import { readPayoutScheduleRequest } from '../../../src/schemas/payout-schedules';
import {
  readWebhookEndpointChange,
  readWebhookEndpointRequest,
} from '../../../src/schemas/webhooks';
import { readReconciliationRequest } from '../../../src/schemas/reconciliations';
import { readRefundRequest } from '../../../src/schemas/refunds';
import { readPayoutRequest } from '../../../src/schemas/payouts';
import { DOCUMENT, escapePointer, violations } from '../../support/merchant/contract';

/** The body as it is parsed from the wire: numbers keep their digits. */
function asParsed(body: object): Record<string, unknown> {
  return parseJsonObject(Buffer.from(JSON.stringify(body)));
}

const operations = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test('it is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(buildDocument());
  expect({ valid, errors, version: validator.version }).toEqual({ valid: true, version: '3.1' });
});

test('the checked-in file is what the schemas say (npm run openapi writes it)', () => {
  expect(DOCUMENT).toEqual(buildDocument());
});

test.each(operations)('the example answers of $method $path have their shape', (one) => {
  const { path, method, operation } = one;
  for (const [status, response] of Object.entries(operation.responses)) {
    const pointer = `/paths/${escapePointer(path)}/${method}/responses/${status}`;
    const content = response.content['application/json'];
    if (content?.example === undefined) continue;
    expect(violations(`${pointer}/content/application~1json/schema`, content.example)).toEqual([]);
  }
});

test('every operation has an example answer, a scope in words and an id of its own', () => {
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  for (const { operation } of operations) {
    const success = operation.responses['200'] ?? operation.responses['201'];
    expect(success?.content['application/json']?.example).toBeDefined();
  }
});

test('the example requests are taken by the schema that validates requests', () => {
  const readers: Record<string, (body: Record<string, unknown>) => object> = {
    createPayout: readPayoutRequest,
    createPayoutBatch: readPayoutBatchRequest,
    createPayoutSchedule: readPayoutScheduleRequest,
    createRecipient: readRecipientRequest,
    updateRecipient: readRecipientChange,
    leaveOutPayoutBatchRows: (body) => readLeaveOutRequest(asParsed(body)),
    createReconciliation: readReconciliationRequest,
    createRefund: readRefundRequest,
    createPayment: (body) => readPaymentRequest(asParsed(body), 'live'),
    createApiKey: (body) => readApiKeyRequest(asParsed(body)),
    createWebhookEndpoint: readWebhookEndpointRequest,
    updateWebhookEndpoint: readWebhookEndpointChange,
  };
  const withBody = OPERATIONS.filter(({ body }) => body !== undefined);
  expect(withBody.map(({ id }) => id).sort()).toEqual(Object.keys(readers).sort());
  for (const { id, path, method, body } of withBody) {
    for (const example of Object.values(body!.examples)) {
      expect(readers[id]!(example as Record<string, unknown>)).toBeDefined();
      const schema = `/paths/${escapePointer(path)}/${method}/requestBody/content/application~1json/schema`;
      expect(violations(schema, example)).toEqual([]);
    }
  }
});

test.each(OPERATIONS)('$id documents every error it can answer with, under its status', (one) => {
  const { responses } = DOCUMENT.paths[one.path]![one.method]!;
  for (const code of one.errors) {
    const text = JSON.stringify(
      responses[ERRORS[code].status]?.content['application/json']?.schema,
    );
    const name = code.replaceAll(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
    expect(text).toContain(`#/components/schemas/${name}Error`);
  }
});

test('a violation is found: the check itself can fail', () => {
  const { body } = OPERATIONS.find(({ id }) => id === 'createPayout')!;
  const [first] = Object.values(body!.examples);
  expect(violations('/components/schemas/PayoutRequest', { ...first, memo: 'x' })).not.toEqual([]);
  expect(violations('/components/schemas/Payout', { id: 'po_1' })).not.toEqual([]);
});
