/** openapi.json: valid, up to date, and true of the schemas and the router. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERRORS } from '../../../src/domain/errors';
import { buildDocument } from '../../../src/openapi/document';
import { OPERATIONS } from '../../../src/openapi/document';
import { parseJsonObject } from '../../../src/kit/api/json-text';
import { readPaymentRequest } from '../../../src/features/payments/payments-contract';
import {
  readRecipientChange,
  readRecipientRequest,
} from '../../../src/features/recipients/recipients-contract';
import {
  readLeaveOutRequest,
  readPayoutBatchRequest,
} from '../../../src/features/payout-batches/payout-batches-contract';
import { readApiKeyRequest } from '../../../src/features/api-keys/api-keys-contract';
import { readPayoutScheduleRequest } from '../../../src/features/payout-schedules/payout-schedules-contract';
import {
  readWebhookEndpointChange,
  readWebhookEndpointRequest,
} from '../../../src/features/webhooks/webhooks-contract';
import { readReconciliationRequest } from '../../../src/features/books/reconciliations-contract';
import { readRefundRequest } from '../../../src/features/payments/refunds-contract';
import { readPayoutRequest } from '../../../src/features/payouts/payouts-contract';
import { DOCUMENT, escapePointer, responseOf, violations } from '../../support/merchant/contract';

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
  for (const status of Object.keys(operation.responses)) {
    const { pointer, content: types } = responseOf(path, method, status)!;
    const content = types['application/json'];
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
  for (const code of one.errors) {
    const { description, content } = responseOf(one.path, one.method, ERRORS[code].status)!;
    expect(description).toContain(`\`${code}\``);
    expect(content['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' });
  }
});

test('generators can read it: a tag has operations or webhooks, and answers may have new values', () => {
  const { webhooks } = DOCUMENT as unknown as {
    webhooks: Record<string, { post: { tags: string[] } }>;
  };
  const ofWebhooks = Object.values(webhooks).flatMap(({ post }) => post.tags);
  const ofOperations = OPERATIONS.map(({ tag }) => tag);
  expect(ofOperations.filter((tag) => ofWebhooks.includes(tag))).toEqual([]);
  for (const [name, schema] of Object.entries(DOCUMENT.components.schemas)) {
    if (!/Request$|Change$/.test(name)) {
      expect(JSON.stringify(schema)).not.toMatch(/"(oneOf|allOf)"|"(status|code)":\{[^{}]*"enum"/);
    }
  }
});

test('a violation is found: the check itself can fail', () => {
  const { body } = OPERATIONS.find(({ id }) => id === 'createPayout')!;
  const [first] = Object.values(body!.examples);
  expect(violations('/components/schemas/PayoutRequest', { ...first, memo: 'x' })).not.toEqual([]);
  expect(violations('/components/schemas/Payout', { id: 'po_1' })).not.toEqual([]);
});
