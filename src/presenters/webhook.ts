/** Webhook endpoints and deliveries in responses of the API. */
import type { StoredAttempt } from '../db/repositories/webhook-attempts';
import type { WebhookDelivery } from '../db/repositories/webhook-deliveries';
import type { WebhookEndpoint } from '../db/repositories/webhook-endpoints';
import type {
  WebhookDeliveryObject,
  WebhookEndpointObject,
  WebhookPingObject,
} from '../schemas/webhooks';
import type { Ping } from './admin';

export function presentEndpointForApi(endpoint: WebhookEndpoint): WebhookEndpointObject {
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

export function presentEndpointWithSecret({
  secret,
  ...endpoint
}: WebhookEndpoint & { secret: string }) {
  return { ...presentEndpointForApi(endpoint), secret };
}

export function presentPingForApi(ping: Ping): WebhookPingObject {
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

export function presentDeliveryForApi(delivery: WebhookDelivery): WebhookDeliveryObject {
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
export function presentAttempts(attempts: readonly StoredAttempt[]) {
  return attempts.map((attempt) => ({
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
    response_body: attempt.responseBody?.toString('utf8') ?? null,
  }));
}
