/** Webhook endpoints and their deliveries on the wire (decisions/webhooks#webhooks-by-api). */
import { type Static, Type } from 'typebox';
import { EVENT_TYPES, EVENTS_BY_NAME_ONLY, SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { WEBHOOK_DELIVERY_STATUSES } from '../../domain/webhook-delivery';
import {
  type EndpointChange,
  type EndpointRequest,
  SIGNATURES,
} from '../../domain/webhook-endpoint';
import { compileBody, type Json, RequestChoice } from '../../kit/api/body';
import { Id, ModeName, OneOf, OrNull, Shape, Timestamp } from '../../kit/api/common';
import {
  CREATION_ERRORS,
  IDEMPOTENCY_KEY,
  idOf,
  listed,
  listQueryOf,
  shown,
  operations,
} from '../../kit/api/operation';
import { oneOf, type Query, readListQuery } from '../../kit/api/query';
import type { StoredAttempt } from '../../db/webhooks/webhook-attempts';
import type { WebhookDelivery } from '../../db/webhooks/webhook-deliveries';
import type { WebhookEndpoint } from '../../db/webhooks/webhook-endpoints';

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'A public URL of at most 2048 characters; HTTPS in live mode',
});
const Events = Type.Array(RequestChoice(['all', ...SUBSCRIBABLE_EVENTS] as const), {
  minItems: 1,
  maxItems: 100,
  description: `A list of types of events, or ["all"] for all types, including future ones. ${EVENTS_BY_NAME_ONLY.join(', ')} is sent only to an endpoint that lists it.`,
});
const SignatureChoice = RequestChoice(SIGNATURES);
const Description = Type.String({
  maxLength: 100,
  description: 'One line of at most 100 characters',
});

/** The body of POST /webhook_endpoints. */
export const WebhookEndpointBody = Type.Object(
  {
    url: Url,
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    signature: Type.Optional(SignatureChoice),
  },
  { additionalProperties: false, description: 'A webhook endpoint' },
);

/** The body of PATCH /webhook_endpoints/{id}. */
export const WebhookEndpointChangeBody = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    signature: Type.Optional(SignatureChoice),
    enabled: Type.Optional(Type.Boolean({ description: 'True or false' })),
  },
  {
    additionalProperties: false,
    description: 'The fields of a webhook endpoint that change; an empty description removes it',
  },
);

const readBody = compileBody(WebhookEndpointBody);
const readChangeBody = compileBody(WebhookEndpointChangeBody);

/** @throws ApiError validation_failed with every failing field */
export function readWebhookEndpointRequest(json: Json): EndpointRequest {
  const { events = ['all'], description, ...body } = readBody(json);
  return { ...body, events, ...(description ? { description } : {}) };
}

/** @throws ApiError validation_failed with every failing field */
export function readWebhookEndpointChange(json: Json): EndpointChange {
  return readChangeBody(json);
}

/** @throws ApiError validation_failed with every failing parameter */
export function readWebhookEndpointQuery(query: Query) {
  return readListQuery({}, query);
}

const DeliveryStatus = OneOf(WEBHOOK_DELIVERY_STATUSES, 'The status of the delivery');
const FILTERS = { status: oneOf(WEBHOOK_DELIVERY_STATUSES) };

/** @throws ApiError validation_failed with every failing parameter */
export function readWebhookDeliveryQuery(query: Query) {
  return readListQuery(FILTERS, query);
}

const ENDPOINT = {
  id: Id('webhookEndpoint'),
  object: Type.Literal('webhook_endpoint'),
  mode: ModeName,
  url: Type.String({ description: 'Where events are sent' }),
  description: OrNull(Type.String(), 'Your description'),
  events: Type.Array(Type.String(), { description: 'Types of events, or "all"' }),
  signature: OneOf(
    SIGNATURES,
    'The headers with signatures: those of the gateway, or also webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks',
  ),
  enabled: Type.Boolean({ description: 'Whether events are sent' }),
  created_at: Timestamp('The time of creation'),
  updated_at: Timestamp('The time of the last change'),
  deleted_at: OrNull(Timestamp('The time of the deletion'), 'Null while it exists'),
};

/** An endpoint without its secret. */
export const WebhookEndpointObject = Shape(ENDPOINT, 'A webhook endpoint');
export type WebhookEndpointObject = Static<typeof WebhookEndpointObject>;

/** An endpoint in the response that made or rolled it, with its secret. */
export const WebhookEndpointWithSecretObject = Shape(
  {
    ...ENDPOINT,
    secret: OrNull(
      Type.String(),
      'The signing secret, in the first response only; null in a repeated response',
    ),
  },
  'A webhook endpoint with its new secret',
);

/** A test event and the receiver's answer. */
export const WebhookPingObject = Shape(
  {
    object: Type.Literal('webhook_ping'),
    endpoint_id: Id('webhookEndpoint'),
    event_id: Id('event'),
    delivery_id: Id('webhookDelivery'),
    outcome: OneOf(['succeeded', 'failed'], 'Whether the receiver took the event'),
    response_status: OrNull(Type.Integer(), 'The HTTP status of the receiver; null without one'),
    error_code: OrNull(Type.String(), 'Why it failed'),
    error: OrNull(Type.String(), 'The same as a sentence'),
    duration_ms: Type.Integer({ description: 'The duration of the attempt' }),
  },
  'The result of a test event',
);
export type WebhookPingObject = Static<typeof WebhookPingObject>;

const DELIVERY = {
  id: Id('webhookDelivery'),
  object: Type.Literal('webhook_delivery'),
  mode: ModeName,
  endpoint_id: Id('webhookEndpoint'),
  event_id: Id('event'),
  event_type: OneOf(EVENT_TYPES, 'The type of the event'),
  object_id: Type.String({ description: 'The ID of the object that the event is about' }),
  status: DeliveryStatus,
  attempt_count: Type.Integer({
    description: 'Attempts of the schedule; resending is not counted',
  }),
  next_attempt_at: OrNull(Timestamp('The time of the next attempt'), 'Null after the last one'),
  last_error: OrNull(Type.String(), 'The error code of the last attempt'),
  created_at: Timestamp('The time of creation'),
  finished_at: OrNull(Timestamp('The time of the end'), 'Null while it is pending'),
};

/** A delivery without its attempts. */
export const WebhookDeliveryObject = Shape(DELIVERY, 'The delivery of an event to an endpoint');
export type WebhookDeliveryObject = Static<typeof WebhookDeliveryObject>;

const Attempt = Shape(
  {
    number: Type.Integer({ description: 'Counted from 1' }),
    manual: Type.Boolean({ description: 'Whether somebody asked for it' }),
    url: Type.String({ description: 'Where the event was sent' }),
    outcome: OrNull(OneOf(['succeeded', 'failed'], 'The outcome'), 'Null while it runs'),
    response_status: OrNull(Type.Integer(), 'The HTTP status of the receiver; null without one'),
    error_code: OrNull(Type.String(), 'Why it failed'),
    error: OrNull(Type.String(), 'The same as a sentence'),
    started_at: Timestamp('The time of its start'),
    finished_at: OrNull(Timestamp('The time of its end'), 'Null while it runs'),
    duration_ms: OrNull(Type.Integer(), 'The duration'),
    response_body: OrNull(Type.String(), 'The first 16 KiB of the response, kept for 30 days'),
  },
  'An attempt',
);

/** A delivery with its attempts. */
export const WebhookDeliveryWithAttemptsObject = Shape(
  { ...DELIVERY, attempts: Type.Array(Attempt, { description: 'Oldest first' }) },
  'A delivery with its attempts',
);

const ENDPOINT_EXAMPLE: WebhookEndpointObject = {
  id: 'we_01M7YESA634WQFACSBWYSTKM76',
  object: 'webhook_endpoint',
  mode: 'live',
  url: 'https://shop.example.com/webhooks',
  description: 'Shop backend',
  events: ['payment.completed', 'payout.completed', 'payout.failed'],
  signature: 'gateway',
  enabled: true,
  created_at: '2026-11-21T07:05:30.632Z',
  updated_at: '2026-11-21T07:05:30.632Z',
  deleted_at: null,
};

const DELIVERY_EXAMPLE: WebhookDeliveryObject = {
  id: 'whd_01M7YESA6JGXFEX3057F2JK1YJ',
  object: 'webhook_delivery',
  mode: 'live',
  endpoint_id: ENDPOINT_EXAMPLE.id,
  event_id: 'evt_01M7YESA6JGXFEX3057F2JK1YJ',
  event_type: 'payment.completed',
  object_id: 'pay_01M7YESA634WQFACSBWYSTKM76',
  status: 'failed',
  attempt_count: 8,
  next_attempt_at: null,
  last_error: 'http_500',
  created_at: '2026-11-21T07:05:30.633Z',
  finished_at: '2026-11-22T19:05:30.633Z',
};

const ONE = shown(WebhookEndpointObject, ENDPOINT_EXAMPLE);
const WITH_SECRET = shown(WebhookEndpointWithSecretObject, {
  ...ENDPOINT_EXAMPLE,
  secret: 'whsec_…',
});
const tag = 'Webhooks';

/** The operations of /webhook_endpoints and /webhook_deliveries. */
export const WEBHOOK_OPERATIONS = operations([
  {
    id: 'createWebhookEndpoint',
    method: 'post',
    path: '/webhook_endpoints',
    tag,
    summary: 'Create a webhook endpoint',
    description:
      'Sends the events of the mode of the key to a URL. At most 16 endpoints exist in each mode. The secret that signs the events is in the first response only: a response that is repeated for the same Idempotency-Key has null. The key also needs the scope `events:read`, because the events go to the URL.',
    scope: 'webhooks:write',
    parameters: [IDEMPOTENCY_KEY],
    body: {
      schema: WebhookEndpointBody,
      examples: {
        some: {
          url: ENDPOINT_EXAMPLE.url,
          events: ENDPOINT_EXAMPLE.events,
          description: 'Shop backend',
        },
      },
    },
    success: { ...WITH_SECRET, status: 201 },
    errors: [
      ...CREATION_ERRORS.filter((code) => code !== 'duplicate_reference'),
      'too_many_objects',
    ],
  },
  {
    id: 'listWebhookEndpoints',
    method: 'get',
    path: '/webhook_endpoints',
    tag,
    summary: 'List webhook endpoints',
    description: 'Returns webhook endpoints, newest first. Deleted endpoints are left out.',
    scope: 'webhooks:read',
    parameters: listQueryOf({}),
    success: listed(WebhookEndpointObject, '/webhook_endpoints', [ENDPOINT_EXAMPLE]),
    errors: ['validation_failed'],
  },
  {
    id: 'getWebhookEndpoint',
    method: 'get',
    path: '/webhook_endpoints/{id}',
    tag,
    summary: 'Retrieve a webhook endpoint',
    description: 'Returns a webhook endpoint, also a deleted one, without its secret.',
    scope: 'webhooks:read',
    parameters: [idOf('webhookEndpoint')],
    success: ONE,
    errors: ['not_found'],
  },
  {
    id: 'updateWebhookEndpoint',
    method: 'patch',
    path: '/webhook_endpoints/{id}',
    tag,
    summary: 'Update a webhook endpoint',
    description:
      'Changes the fields that the body names. While an endpoint is disabled, its deliveries end as skipped and no new ones are made. The key also needs the scope `events:read`.',
    scope: 'webhooks:write',
    parameters: [idOf('webhookEndpoint')],
    body: {
      schema: WebhookEndpointChangeBody,
      examples: { move: { url: 'https://shop.example.com/new' }, disable: { enabled: false } },
    },
    success: ONE,
    errors: [
      'invalid_json',
      'payload_too_large',
      'unsupported_media_type',
      'validation_failed',
      'not_found',
      'invalid_state',
    ],
  },
  {
    id: 'deleteWebhookEndpoint',
    method: 'delete',
    path: '/webhook_endpoints/{id}',
    tag,
    summary: 'Delete a webhook endpoint',
    description: 'Sends nothing more to it. Its pending deliveries end as skipped.',
    scope: 'webhooks:write',
    parameters: [idOf('webhookEndpoint')],
    success: {
      ...ONE,
      example: { data: { ...ENDPOINT_EXAMPLE, deleted_at: '2026-11-25T16:20:00.000Z' } },
    },
    errors: ['not_found', 'invalid_state'],
  },
  {
    id: 'rollWebhookEndpoint',
    method: 'post',
    path: '/webhook_endpoints/{id}/roll',
    tag,
    summary: 'Roll the secret of a webhook endpoint',
    description:
      'Replaces the secret. Every attempt from now on is signed with the new one. If you lose the response, roll it again.',
    scope: 'webhooks:write',
    parameters: [idOf('webhookEndpoint')],
    success: WITH_SECRET,
    errors: ['not_found', 'invalid_state'],
  },
  {
    id: 'pingWebhookEndpoint',
    method: 'post',
    path: '/webhook_endpoints/{id}/ping',
    tag,
    summary: 'Send a test event',
    description:
      'Sends a signed event of type webhook.ping once and returns the result, also for a disabled endpoint.',
    scope: 'webhooks:write',
    parameters: [idOf('webhookEndpoint')],
    success: shown(WebhookPingObject, {
      object: 'webhook_ping',
      endpoint_id: ENDPOINT_EXAMPLE.id,
      event_id: DELIVERY_EXAMPLE.event_id,
      delivery_id: DELIVERY_EXAMPLE.id,
      outcome: 'succeeded',
      response_status: 200,
      error_code: null,
      error: null,
      duration_ms: 48,
    }),
    errors: ['not_found', 'invalid_state'],
  },
  {
    id: 'listWebhookDeliveries',
    method: 'get',
    path: '/webhook_endpoints/{id}/deliveries',
    tag,
    summary: 'List the deliveries of an endpoint',
    description: 'Returns the deliveries of events to an endpoint, newest first.',
    scope: 'webhooks:read',
    parameters: [idOf('webhookEndpoint'), ...listQueryOf(FILTERS)],
    success: listed(WebhookDeliveryObject, `/webhook_endpoints/${ENDPOINT_EXAMPLE.id}/deliveries`, [
      DELIVERY_EXAMPLE,
    ]),
    errors: ['not_found', 'validation_failed'],
  },
  {
    id: 'getWebhookDelivery',
    method: 'get',
    path: '/webhook_deliveries/{id}',
    tag,
    summary: 'Retrieve a delivery',
    description: 'Returns a delivery with its attempts. GET /events/{event_id} has what was sent.',
    scope: 'webhooks:read',
    parameters: [idOf('webhookDelivery')],
    success: shown(WebhookDeliveryWithAttemptsObject, {
      ...DELIVERY_EXAMPLE,
      attempts: [
        {
          number: 1,
          manual: false,
          url: ENDPOINT_EXAMPLE.url,
          outcome: 'failed',
          response_status: 500,
          error_code: 'http_500',
          error: 'The receiver answered with status 500.',
          started_at: '2026-11-21T07:05:30.640Z',
          finished_at: '2026-11-21T07:05:30.688Z',
          duration_ms: 48,
          response_body: 'error',
        },
      ],
    }),
    errors: ['not_found'],
  },
  {
    id: 'resendWebhookDelivery',
    method: 'post',
    path: '/webhook_deliveries/{id}/resend',
    tag,
    summary: 'Resend a delivery',
    description:
      'Makes one attempt at once, whatever the status. A success ends the schedule; a failure changes nothing. Events are kept for 30 days.',
    scope: 'webhooks:write',
    parameters: [idOf('webhookDelivery')],
    success: shown(WebhookDeliveryObject, DELIVERY_EXAMPLE),
    errors: ['not_found', 'invalid_state'],
  },
]);

/** Webhook endpoints and deliveries in responses of the API. */

export function presentEndpoint(endpoint: WebhookEndpoint): WebhookEndpointObject {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    mode: endpoint.mode,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events ?? ['all'],
    signature: endpoint.signature,
    enabled: endpoint.enabled,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
    deleted_at: endpoint.deletedAt?.toISOString() ?? null,
  };
}

/** The endpoint as operators and the audit log see it. */
export function presentEndpointForOperator(endpoint: WebhookEndpoint) {
  const { accountId, timeoutsInARow } = endpoint;
  return { ...presentEndpoint(endpoint), account_id: accountId, timeouts_in_a_row: timeoutsInARow };
}

export function presentEndpointWithSecret({
  secret,
  ...endpoint
}: WebhookEndpoint & { secret: string }) {
  return { ...presentEndpoint(endpoint), secret };
}

/** A test event and the endpoint's response. */
export interface Ping {
  endpointId: string;
  eventId: string;
  deliveryId: string;
  outcome: 'succeeded' | 'failed';
  status: number | null;
  errorCode: string | null;
  error: string | null;
  durationMs: number;
}

export function presentPing(ping: Ping): WebhookPingObject {
  return {
    object: 'webhook_ping',
    endpoint_id: ping.endpointId,
    event_id: ping.eventId,
    delivery_id: ping.deliveryId,
    outcome: ping.outcome,
    response_status: ping.status,
    error_code: ping.errorCode,
    error: ping.error,
    duration_ms: ping.durationMs,
  };
}

export function presentDelivery(delivery: WebhookDelivery): WebhookDeliveryObject {
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    mode: delivery.mode,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    object_id: delivery.objectId,
    status: delivery.status,
    attempt_count: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  };
}

/** What was sent is the event; its signature stays with the receiver and is not shown. */
export function presentAttempt(attempt: StoredAttempt) {
  return {
    number: attempt.number,
    manual: attempt.manual,
    url: attempt.url,
    outcome: attempt.outcome,
    response_status: attempt.status,
    error_code: attempt.errorCode,
    error: attempt.error,
    started_at: attempt.startedAt.toISOString(),
    finished_at: attempt.finishedAt?.toISOString() ?? null,
    duration_ms: attempt.durationMs,
    // The response is shown as text; the database stores the exact bytes.
    response_body: attempt.responseBody?.toString('utf8') ?? null,
  };
}

export function presentAttemptForOperator(attempt: StoredAttempt) {
  const { timing, requestHeaders, responseHeaders, responseTruncated } = attempt;
  return {
    object: 'webhook_attempt',
    ...presentAttempt(attempt),
    timing_ms: timing && {
      dns: timing.dnsMs,
      connect: timing.connectMs,
      tls: timing.tlsMs,
      first_byte: timing.firstByteMs,
    },
    request_headers: requestHeaders,
    response_headers: responseHeaders,
    response_truncated: responseTruncated,
  };
}
