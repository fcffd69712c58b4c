/**
 * Webhook endpoints, for an operator (decisions/webhook-secrets, decisions/webhook-endpoints
 * and decisions/webhook-ping). The secret is returned once. The database stores it
 * encrypted; the audit log does not contain it.
 */
import { randomBytes } from 'node:crypto';
import {
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpointSecret,
  lockEndpoint,
  replaceEndpointSecret,
  saveEndpoint,
  type WebhookEndpoint,
} from '../../db/repositories/webhook-endpoints';
import { insertPing } from '../../db/repositories/webhook-attempts';
import { inTransaction, type Db, type Reader, type Tx } from '../../db/transaction';
import { ENDPOINTS_MAX } from '../../domain/webhook-delivery';
import { PING, SUBSCRIBABLE_EVENTS } from '../../domain/events';
import type { Mode } from '../../domain/mode';
import { newId } from '../../lib/new-id';
import { presentEndpoint, presentPing, type Ping } from '../../presenters/admin';
import { presentEvent } from '../../presenters/envelope';
import type { SecretBox } from '../../lib/secret-box';
import type { WebhookDeliveryWorkflows } from '../../temporal/webhook-delivery-workflows';
import type { WebhookSender } from '../../webhooks/sender';
import { requireLockedAccount } from './accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './audit';
import { checkText, chosenNames } from './checks';
import { AdminRefusal, InvalidInput } from './refusal';

const DESCRIPTION_LENGTH_MAX = 100;
const SECRET_BYTES = 32;

/** What some functions need besides the database. */
export interface WebhookTools {
  webhookSender: WebhookSender;
  secretBox: SecretBox;
  /**
   * Null without Temporal: the schedule restart-missing then starts the workflows within seconds.
   */
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows | null;
}

export interface EndpointSettings {
  url: string;
  /** Event types, or `all`. */
  events: readonly string[];
  description: string | null;
}

export type EndpointWithSecret = WebhookEndpoint & { secret: string };

/** Endpoints of both modes, oldest first, without deleted ones. */
export { listEndpoints } from '../../db/repositories/webhook-endpoints';

/** @throws InvalidInput, and AdminRefusal when the account has the maximum number */
export async function createEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender, secretBox }: Pick<WebhookTools, 'webhookSender' | 'secretBox'>,
  { accountId, mode, ...settings }: EndpointSettings & { accountId: string; mode: Mode },
): Promise<EndpointWithSecret> {
  const events = readEvents(settings.events);
  const description = readDescription(settings.description);
  const url = await checkUrl(webhookSender, settings.url, mode);
  return makeChange(db, by, async (tx) => {
    await requireLockedAccount(tx, accountId);
    await refuseOneTooMany(tx, accountId, mode);
    const id = newId('webhookEndpoint');
    const secret = makeSecret();
    const endpoint = await insertEndpoint(
      tx,
      { id, accountId, mode, url, events, description },
      secretBox.seal(secret, id),
    );
    return {
      result: { ...endpoint, secret },
      audit: auditOf('webhook_endpoint.create', null, endpoint),
    };
  });
}

/** Omitted fields stay unchanged. @throws InvalidInput, AdminRefusal */
export async function editEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender }: Pick<WebhookTools, 'webhookSender'>,
  id: string,
  wish: Partial<EndpointSettings>,
): Promise<WebhookEndpoint> {
  const url =
    wish.url === undefined
      ? undefined
      : await checkUrl(webhookSender, wish.url, (await requireKnown(db, id)).mode);
  const change = {
    ...(url === undefined ? {} : { url }),
    ...(wish.events === undefined ? {} : { events: readEvents(wish.events) }),
    ...(wish.description === undefined ? {} : { description: readDescription(wish.description) }),
  };
  return changeEndpoint(db, by, id, 'webhook_endpoint.edit', () => change);
}

/** @throws AdminRefusal when it already has that state */
export function enableEndpoint(
  db: Db,
  by: ChangedBy,
  id: string,
  enabled: boolean,
): Promise<WebhookEndpoint> {
  const action = enabled ? 'webhook_endpoint.enable' : 'webhook_endpoint.disable';
  return changeEndpoint(db, by, id, action, (endpoint) => {
    if (endpoint.enabled !== enabled) return { enabled };
    const code = enabled ? 'endpoint_already_enabled' : 'endpoint_already_disabled';
    throw new AdminRefusal({ code, id });
  });
}

/** Permanent; its open deliveries end as skipped. @throws AdminRefusal */
export function deleteEndpoint(db: Db, by: ChangedBy, id: string): Promise<WebhookEndpoint> {
  return changeEndpoint(db, by, id, 'webhook_endpoint.delete', () => ({ deletedAt: new Date() }));
}

/** A new secret; nothing is signed with the old one any more. @throws AdminRefusal */
export async function rollSecret(
  db: Db,
  by: ChangedBy,
  { secretBox }: Pick<WebhookTools, 'secretBox'>,
  id: string,
): Promise<EndpointWithSecret> {
  return makeChange(db, by, async (tx) => {
    const before = await requireEndpoint(tx, id);
    const secret = makeSecret();
    const rolled = await replaceEndpointSecret(tx, id, secretBox.seal(secret, id));
    return {
      result: { ...rolled, secret },
      audit: auditOf('webhook_endpoint.roll', before, rolled),
    };
  });
}

/**
 * The test event (decisions/webhook-ping): one attempt, kept as a delivery; also for an endpoint that is
 * disabled or not subscribed. @param data of the event, to try a receiver with. @throws AdminRefusal
 */
export async function pingEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender, secretBox }: Pick<WebhookTools, 'webhookSender' | 'secretBox'>,
  endpointId: string,
  data?: Readonly<Record<string, unknown>>,
): Promise<Ping> {
  const { endpoint, secret } = await inTransaction(db, async (tx) => ({
    endpoint: await requireEndpoint(tx, endpointId),
    secret: secretBox.open(await lockEndpointSecret(tx, endpointId), endpointId),
  }));
  const { accountId, mode, url } = endpoint;
  const sentAt = new Date();
  const event = { id: newId('event'), type: PING, mode, sequence: 1, createdAt: sentAt };
  const events = endpoint.events ?? ['all'];
  const body = presentEvent(
    event,
    data ?? { object: 'ping', endpoint_id: endpointId, url, events },
  );
  // The attempt checks the URL again and reports a problem in its result.
  const result = await webhookSender.send({
    url,
    mode,
    eventType: PING,
    eventId: event.id,
    secret,
    body,
  });
  const stored = {
    eventId: event.id,
    deliveryId: newId('delivery'),
    endpointId,
    accountId,
    mode,
    url,
  };
  const { outcome, status, errorCode, error, durationMs } = result;
  const { eventId, deliveryId } = stored;
  const ping = { endpointId, eventId, deliveryId, outcome, status, errorCode, error, durationMs };
  return makeChange(db, by, async (tx) => {
    await insertPing(tx, { ...stored, body, sentAt }, result);
    const audit = { action: 'webhook_endpoint.ping', object: 'webhook_endpoint' };
    const after = presentPing(ping);
    return {
      result: ping,
      audit: { ...audit, objectId: endpointId, accountId, before: null, after },
    };
  });
}

/** Locks the endpoint. @throws AdminRefusal when it does not exist or was deleted */
export async function requireEndpoint(tx: Tx, id: string): Promise<WebhookEndpoint> {
  const endpoint = await lockEndpoint(tx, id);
  if (endpoint !== null) return endpoint;
  return requireNotDeleted(await requireKnown(tx, id));
}

/** @throws AdminRefusal */
export function requireNotDeleted(endpoint: WebhookEndpoint): WebhookEndpoint {
  const { id, deletedAt } = endpoint;
  if (deletedAt === null) return endpoint;
  throw new AdminRefusal({ code: 'endpoint_deleted', id, deletedAt });
}

/** Includes deleted endpoints. @throws AdminRefusal */
export async function requireKnown(db: Reader, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(db, id);
  if (endpoint !== null) return endpoint;
  throw new AdminRefusal({ code: 'not_found', object: 'webhook_endpoint', id });
}

/**
 * @returns the URL in the form that was checked, to be saved
 * @throws InvalidInput with the rule that the URL violates
 */
async function checkUrl(sender: WebhookSender, url: string, mode: Mode): Promise<string> {
  const verdict = await sender.check(url, mode);
  if (verdict.ok) return verdict.url;
  throw new InvalidInput('url', { code: 'url_refused', explanation: verdict.message });
}

async function changeEndpoint(
  db: Db,
  by: ChangedBy,
  id: string,
  action: string,
  decide: (endpoint: WebhookEndpoint) => Partial<WebhookEndpoint>,
): Promise<WebhookEndpoint> {
  return makeChange(db, by, async (tx) => {
    const before = await requireEndpoint(tx, id);
    const after = await saveEndpoint(tx, { ...before, ...decide(before) });
    return { result: after, audit: auditOf(action, before, after) };
  });
}

async function refuseOneTooMany(tx: Tx, accountId: string, mode: Mode): Promise<void> {
  const present = (await listEndpoints(tx, accountId)).filter((one) => one.mode === mode);
  if (present.length < ENDPOINTS_MAX) return;
  throw new AdminRefusal({ code: 'too_many_endpoints', accountId, mode, max: ENDPOINTS_MAX });
}

function readEvents(names: readonly string[]): string[] | null {
  const chosen = chosenNames('events', names, SUBSCRIBABLE_EVENTS);
  return chosen === 'all' ? null : chosen;
}

function readDescription(text: string | null): string | null {
  return text === null ? null : checkText('description', text, DESCRIPTION_LENGTH_MAX);
}

/** The key of the signature is the text itself, including its prefix (decisions/webhook-secrets). */
function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

function auditOf(
  action: string,
  before: WebhookEndpoint | null,
  after: WebhookEndpoint,
): AuditedObject {
  return {
    action,
    object: 'webhook_endpoint',
    objectId: after.id,
    accountId: after.accountId,
    before: before === null ? null : presentEndpoint(before),
    after: presentEndpoint(after),
  };
}
