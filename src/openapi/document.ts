/** Builds the OpenAPI 3.1 document from the resources in the contracts of src/features, which validate requests. */
import { STATUS_CODES } from 'node:http';
import { Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../domain/errors';
import { EVENT_TYPES } from '../domain/events';
import { SCOPES } from '../domain/scopes';
import {
  API_KEY_OPERATIONS,
  ApiKeyBody,
  ApiKeyObject,
  ApiKeyWithSecretObject,
} from '../features/api-keys/api-keys-contract';
import { BALANCE_OPERATIONS, BalanceObject } from '../features/books/balance-contract';
import { CURRENCY_OPERATIONS, CurrencyList } from '../features/accounts/currencies-contract';
import { errorObjectOf } from '../kit/api/error-bodies';
import {
  EVENT_BODIES,
  EVENT_OPERATIONS,
  EventObject,
  webhookBodyOf,
} from '../features/webhooks/events-contract';
import { EXPORT_OPERATIONS } from '../features/books/exports-contract';
import {
  RECONCILIATION_OPERATIONS,
  ReconciliationBody,
  ReconciliationObject,
} from '../features/books/reconciliations-contract';
import { FEE_OPERATIONS, FeeQuoteObject, FeeRuleObject } from '../features/accounts/fees-contract';
import type { Operation, Success } from '../kit/api/operation';
import {
  PAYMENT_OPERATIONS,
  PaymentBody,
  PaymentObject,
} from '../features/payments/payments-contract';
import {
  PAYOUT_BATCH_OPERATIONS,
  PayoutBatchBody,
  PayoutBatchCheckObject,
  PayoutBatchObject,
  PayoutBatchProofObject,
} from '../features/payout-batches/payout-batches-contract';
import {
  PAYOUT_SCHEDULE_OPERATIONS,
  PayoutScheduleBody,
  PayoutScheduleCheckObject,
  PayoutScheduleObject,
  PayoutScheduleRunObject,
} from '../features/payout-schedules/payout-schedules-contract';
import {
  PAYOUT_DOSSIER_OPERATIONS,
  PayoutDossierObject,
} from '../features/payouts/payout-dossiers-contract';
import { PAYOUT_OPERATIONS, PayoutBody, PayoutObject } from '../features/payouts/payouts-contract';
import {
  RECIPIENT_OPERATIONS,
  RecipientBody,
  RecipientChangeBody,
  RecipientObject,
} from '../features/recipients/recipients-contract';
import {
  REQUEST_LOG_OPERATIONS,
  RequestLogObject,
} from '../features/request-log/request-logs-contract';
import { REFUND_OPERATIONS, RefundBody, RefundObject } from '../features/payments/refunds-contract';
import { TRANSACTION_OPERATIONS, TransactionObject } from '../features/books/transactions-contract';
import {
  WEBHOOK_OPERATIONS,
  WebhookDeliveryObject,
  WebhookDeliveryWithAttemptsObject,
  WebhookEndpointBody,
  WebhookEndpointChangeBody,
  WebhookEndpointObject,
  WebhookEndpointWithSecretObject,
  WebhookPingObject,
} from '../features/webhooks/webhooks-contract';

/** The API's operations, in the order of the document. A test compares them with the router. */
export const OPERATIONS: readonly Operation[] = [
  ...PAYMENT_OPERATIONS,
  ...REFUND_OPERATIONS,
  ...PAYOUT_OPERATIONS,
  ...PAYOUT_DOSSIER_OPERATIONS,
  ...PAYOUT_BATCH_OPERATIONS,
  ...PAYOUT_SCHEDULE_OPERATIONS,
  ...RECIPIENT_OPERATIONS,
  ...BALANCE_OPERATIONS,
  ...TRANSACTION_OPERATIONS,
  ...EXPORT_OPERATIONS,
  ...RECONCILIATION_OPERATIONS,
  ...FEE_OPERATIONS,
  ...CURRENCY_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...API_KEY_OPERATIONS,
  ...REQUEST_LOG_OPERATIONS,
];

/** The errors that every operation can answer with. */
const COMMON_ERRORS: ErrorCode[] = [
  'authentication_required',
  'invalid_api_key',
  'account_suspended',
  'ip_not_allowed',
  'rate_limited',
  'validation_failed',
  'internal_error',
  'service_unavailable',
];

/** Some codes are for operators' and providers' paths, which are not in the document. */
export const USED_ERRORS: ErrorCode[] = [
  ...new Set(OPERATIONS.flatMap((operation) => errorsOf(operation))),
].sort();

const API_VERSION = '1.0.0';

/** @returns the document as plain JSON */
export function buildDocument(): Record<string, unknown> {
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Merchant Payments and Payouts API',
      version: API_VERSION,
      description:
        'Accept cryptocurrency payments and send payouts. Amounts are decimal strings with 8 decimals. Currencies are never converted.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }],
    tags: [...new Set([...OPERATIONS.map(({ tag }) => tag), WEBHOOK_TAG])].map((name) => ({
      name,
    })),
    paths: buildPaths(),
    webhooks: buildWebhooks(),
    components: {
      securitySchemes: { bearer: SECURITY_SCHEME },
      headers: HEADERS,
      parameters: WEBHOOK_HEADERS,
      responses: ERROR_RESPONSES,
    },
  };
  const named = { ...document, components: { ...document.components, schemas: SCHEMAS } };
  return withReferences(named) as Record<string, unknown>;
}

const ErrorObject = errorObjectOf(USED_ERRORS);

/** The schemas that have a name of their own in the document. */
const SCHEMAS: Record<string, object> = {
  PaymentRequest: PaymentBody,
  Payment: PaymentObject,
  RefundRequest: RefundBody,
  Refund: RefundObject,
  PayoutRequest: PayoutBody,
  Payout: PayoutObject,
  PayoutDossier: PayoutDossierObject,
  RecipientRequest: RecipientBody,
  RecipientChange: RecipientChangeBody,
  Recipient: RecipientObject,
  PayoutBatchRequest: PayoutBatchBody,
  PayoutBatch: PayoutBatchObject,
  PayoutBatchCheck: PayoutBatchCheckObject,
  PayoutBatchProof: PayoutBatchProofObject,
  ReconciliationRequest: ReconciliationBody,
  Reconciliation: ReconciliationObject,
  PayoutScheduleRequest: PayoutScheduleBody,
  PayoutSchedule: PayoutScheduleObject,
  PayoutScheduleCheck: PayoutScheduleCheckObject,
  PayoutScheduleRun: PayoutScheduleRunObject,
  Balance: BalanceObject,
  Transaction: TransactionObject,
  FeeRule: FeeRuleObject,
  FeeQuote: FeeQuoteObject,
  CurrencyList,
  Event: EventObject,
  ...Object.fromEntries(
    Object.entries(EVENT_BODIES).map(([kind, body]) => [`${pascal(kind)}Event`, body]),
  ),
  ApiKeyRequest: ApiKeyBody,
  ApiKey: ApiKeyObject,
  ApiKeyWithSecret: ApiKeyWithSecretObject,
  RequestLog: RequestLogObject,
  WebhookEndpointRequest: WebhookEndpointBody,
  WebhookEndpointChange: WebhookEndpointChangeBody,
  WebhookEndpoint: WebhookEndpointObject,
  WebhookEndpointWithSecret: WebhookEndpointWithSecretObject,
  WebhookPing: WebhookPingObject,
  WebhookDelivery: WebhookDeliveryObject,
  WebhookDeliveryWithAttempts: WebhookDeliveryWithAttemptsObject,
  Error: ErrorObject,
};

function pascal(name: string): string {
  return name.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const NAMES = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));

/** Each named schema is written once, under components, and referred to everywhere else. */
function withReferences(document: object): unknown {
  const refer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer);
    if (typeof value !== 'object' || value === null) return value;
    const name = NAMES.get(value);
    return name === undefined ? copy(value) : { $ref: `#/components/schemas/${name}` };
  };
  const copy = (value: object): object =>
    Object.fromEntries(
      Object.entries(portable(value)).map(([key, member]) =>
        value === SCHEMAS ? [key, copy(member as object)] : [key, refer(member)],
      ),
    );
  return copy(document);
}

/**
 * The schema as tools in other languages read it. A choice gets its type, and a union its types,
 * because Scalar warns of a schema without one. Null is one of two types where it can be, because generators for Go
 * know no other way. A pattern has no Unicode classes and no \u: half of a surrogate pair, which the server refuses as
 * well, is not valid Unicode and few tools can send it.
 */
function portable(schema: object): object {
  if ('pattern' in schema && isText(schema.pattern)) {
    const pattern = schema.pattern.replaceAll('\\p{Cs}', '').replaceAll('\\u0000', '\\x00');
    return { ...schema, pattern };
  }
  if ('anyOf' in schema && Array.isArray(schema.anyOf)) {
    const [member, other, ...more] = schema.anyOf as Record<string, unknown>[];
    const type = other?.['type'] === 'null' && more.length === 0 ? member?.['type'] : undefined;
    const isChoice = member !== undefined && ('enum' in member || 'const' in member);
    if (isText(type) && !isChoice && !NAMES.has(member ?? {})) {
      const { anyOf: _, ...outer } = schema;
      return portable({ ...member, ...outer, type: [type, 'null'] });
    }
  }
  const type = 'type' in schema ? null : typeOf(schema);
  return type === null ? schema : { type, ...schema };
}

/** The JSON type of a choice or a union, whose schema does not name it. */
function typeOf(schema: object): string | string[] | null {
  if ('type' in schema && isText(schema.type)) return schema.type;
  if ('enum' in schema && Array.isArray(schema.enum) && schema.enum.every(isText)) return 'string';
  if (!('anyOf' in schema) || !Array.isArray(schema.anyOf)) return null;
  const types = [...new Set(schema.anyOf.map((member: object) => typeOf(member)))];
  if (!types.every(isText)) return null;
  return types.length === 1 ? (types[0] ?? null) : types;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const SECURITY_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  description: `A test or live API key. Scopes: ${SCOPES.join(', ')}.`,
};

const HEADERS = {
  'X-Request-Id': header('Unique ID of the request', 'string', true),
  'RateLimit-Limit': header('Requests allowed per minute', 'integer', true),
  'RateLimit-Remaining': header('Requests remaining in this minute', 'integer', true),
  'RateLimit-Reset': header('Seconds until the limit resets', 'integer', true),
  'Retry-After': header('Seconds to wait before retrying', 'integer', true),
  'Idempotent-Replayed': header(
    'true if the response is the stored response of an earlier request',
    'string',
    false,
  ),
};

function header(description: string, type: 'string' | 'integer', required: boolean) {
  return { description, required, schema: { type } };
}

/** Generators make one class of a tag, so it is none of the operations'. */
const WEBHOOK_TAG = 'Webhook events';

const STANDARD = 'Only where the endpoint asks for the headers of Standard Webhooks: ';
const WEBHOOK_HEADERS = Object.fromEntries(
  Object.entries({
    'X-Gateway-Event': 'The type of the event',
    'X-Gateway-Event-Id': 'The ID of the event, the same in every attempt',
    'X-Gateway-Timestamp': 'The Unix time of the attempt in seconds',
    'X-Gateway-Signature':
      't=<timestamp>,v1=<HMAC-SHA256 of timestamp.body with the secret, in hexadecimal digits>',
    'webhook-id': `${STANDARD}the ID of the event`,
    'webhook-timestamp': `${STANDARD}the Unix time of the attempt in seconds`,
    'webhook-signature': `${STANDARD}v1,<HMAC-SHA256 of id.timestamp.body with the key that the secret encodes, in base64>`,
  }).map(([name, description]) => [
    name,
    {
      name,
      in: 'header',
      required: !description.startsWith(STANDARD),
      description,
      schema: { type: 'string' },
    },
  ]),
);

/** The requests that the gateway sends to webhook endpoints, by event. */
function buildWebhooks(): Record<string, unknown> {
  const webhooks = EVENT_TYPES.map((type) => [
    type,
    {
      post: {
        operationId: `webhook${pascal(type)}`,
        tags: [WEBHOOK_TAG],
        summary: type,
        description:
          'Verify X-Gateway-Signature with the raw body before you read it, and answer with a 2xx status within 10 seconds. Other answers are repeated.',
        security: [],
        parameters: Object.keys(WEBHOOK_HEADERS).map((name) => ({
          $ref: `#/components/parameters/${name}`,
        })),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: webhookBodyOf(type) } },
        },
        responses: { '2XX': { description: 'The webhook was received' } },
      },
    },
  ]);
  return Object.fromEntries(webhooks) as Record<string, unknown>;
}

function buildPaths(): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: buildOperation(operation),
    };
  }
  return paths;
}

function buildOperation(operation: Operation): Record<string, unknown> {
  const { id, tag, summary, description, scope, parameters, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description}\n\n${scope === null ? 'Any valid API key.' : `Scope: \`${scope}\`.`}`,
    security: [{ bearer: scope === null ? [] : [scope] }],
    parameters,
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: responses(operation),
  };
}

function requestBody({ schema, examples }: NonNullable<Operation['body']>) {
  const shown = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    required: true,
    content: { 'application/json': { schema, examples: Object.fromEntries(shown) as object } },
  };
}

/** Every code that the operation can answer with. */
export function errorsOf({ scope, errors }: Operation): ErrorCode[] {
  const ofScope = scope === null ? [] : (['insufficient_scope'] as const);
  return [...new Set([...COMMON_ERRORS, ...ofScope, ...errors])];
}

function responses(operation: Operation): Record<string, unknown> {
  const { success, answer } = operation;
  const codes = errorsOf(operation);
  const replayed = operation.body !== undefined ? [...ANSWERED, 'Idempotent-Replayed'] : ANSWERED;
  return {
    [success.status]: successResponse(success, replayed),
    ...(answer === undefined ? {} : { [answer.status]: successResponse(answer, ANSWERED) }),
    ...Object.fromEntries(
      statusesOf(codes).map((status) => [status, errorResponse(status, codes)]),
    ),
  };
}

function successResponse(success: Success, headers: readonly string[]) {
  const { status, schema, example, texts = {} } = success;
  const others = Object.entries(texts).map(([type, text]) => [
    type,
    { schema: Type.String(), example: text },
  ]);
  return {
    description: status === 201 ? 'Created' : 'OK',
    headers: headersOf(headers),
    content: Object.fromEntries([['application/json', { schema, example }], ...others]) as object,
  };
}

const ANSWERED = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const IN_PROGRESS_WAIT = header(
  'Seconds to wait before retrying, with request_in_progress',
  'integer',
  false,
);
const UNAVAILABLE_WAIT = header(
  'Seconds to wait before retrying; absent if only the operator can help',
  'integer',
  false,
);

const WAITS: Record<number, object> = {
  409: IN_PROGRESS_WAIT,
  429: { $ref: '#/components/headers/Retry-After' },
  503: UNAVAILABLE_WAIT,
};

/** The error answers by status, with the codes that every operation has. */
const ERROR_RESPONSES = Object.fromEntries(
  statusesOf(USED_ERRORS).map((status) => [
    errorResponseName(status),
    {
      description: meanings(status, COMMON_ERRORS) || STATUS_CODES[status],
      headers: {
        ...headersOf(['X-Request-Id']),
        ...(WAITS[status] === undefined ? {} : { 'Retry-After': WAITS[status] }),
      },
      content: { 'application/json': { schema: ErrorObject } },
    },
  ]),
);

function statusesOf(codes: readonly ErrorCode[]): number[] {
  return [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
}

/** `UnprocessableEntity` of 422. */
function errorResponseName(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}

function meanings(status: number, all: readonly ErrorCode[]): string {
  const codes = all.filter((code) => ERRORS[code].status === status);
  return codes.map((code) => `- \`${code}\`: ${ERRORS[code].message}`).join('\n');
}

/** The description of a reference replaces the one of the answer that it refers to. */
function errorResponse(status: number, codes: readonly ErrorCode[]): Record<string, unknown> {
  const description = meanings(status, codes);
  return {
    $ref: `#/components/responses/${errorResponseName(status)}`,
    ...(description === meanings(status, COMMON_ERRORS) ? {} : { description }),
  };
}

function headersOf(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
