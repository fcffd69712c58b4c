/** The test event (decision H6): one attempt, whose result is shown at once and kept. */
import { insertPing } from '../../db/repositories/webhook-attempts';
import { lockEndpointSecret } from '../../db/repositories/webhook-endpoints';
import { inTransaction, type Db } from '../../db/transaction';
import { PING } from '../../domain/events';
import { newId } from '../../lib/new-id';
import { presentEvent } from '../../presenters/envelope';
import { makeChange, type ChangedBy } from './change';
import { requireEndpoint, type WebhookTools } from './webhooks';

/** Also for an endpoint that is disabled or not subscribed. @throws AdminRefusal */
export async function pingEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender, secretBox }: Pick<WebhookTools, 'webhookSender' | 'secretBox'>,
  endpointId: string,
) {
  const { endpoint, secret } = await inTransaction(db, async (tx) => ({
    endpoint: await requireEndpoint(tx, endpointId),
    secret: secretBox.open(await lockEndpointSecret(tx, endpointId), endpointId),
  }));
  const { accountId, mode, url } = endpoint;
  const sentAt = new Date();
  const event = { id: newId('event'), type: PING, mode, sequence: 1, createdAt: sentAt };
  const events = endpoint.events ?? ['all'];
  const body = presentEvent(event, { object: 'ping', endpoint_id: endpointId, url, events });
  // The address is vetted again by every attempt; what is wrong with it comes back as its error.
  const result = await webhookSender.send({
    url,
    mode,
    eventType: PING,
    eventId: event.id,
    secret,
    body,
  });
  const ping = {
    eventId: event.id,
    deliveryId: newId('delivery'),
    endpointId,
    accountId,
    mode,
    url,
  };
  const shown = {
    object: 'webhook_ping',
    endpoint_id: endpointId,
    event_id: ping.eventId,
    delivery_id: ping.deliveryId,
    outcome: result.outcome,
    status: result.status,
    error_code: result.errorCode,
    error: result.error,
    duration_ms: result.durationMs,
  };
  return makeChange(db, by, async (tx) => {
    await insertPing(tx, { ...ping, body, sentAt }, result);
    const audit = { action: 'webhook_endpoint.ping', object: 'webhook_endpoint' };
    return {
      result: shown,
      audit: { ...audit, objectId: endpointId, accountId, before: null, after: shown },
    };
  });
}
