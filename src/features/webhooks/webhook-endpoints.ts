/**
 * Webhook endpoints (decisions/webhooks#webhook-secrets, decisions/webhooks#webhook-endpoints and decisions/webhooks#webhook-ping): the
 * changes of the dashboard's pages, of the API and of `admin webhooks`, and what the pages read. A secret is returned once.
 * The database stores it encrypted; the audit log does not contain it.
 */
import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { listDeliveryWarnings } from '../../db/webhooks/delivery-warnings';
import { countAttempts, countRecentAttempts, insertPing } from '../../db/webhooks/webhook-attempts';
import {
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpointSecret,
  lockEndpoint,
  replaceEndpointSecret,
  saveEndpoint,
  type WebhookEndpoint,
} from '../../db/webhooks/webhook-endpoints';
import type { Db, Reader, Tx } from '../../db/transaction';
import { SIGNATURES } from '../../domain/webhook-endpoint';
import { EVENTS_BY_NAME_ONLY, PING, SUBSCRIBABLE_EVENTS } from '../../domain/events';
import { idAt } from '../../domain/ids';
import type { Mode, Owner } from '../../domain/mode';
import { ENDPOINTS_MAX } from '../../domain/webhook-delivery';
import { newId } from '../../platform/lib/new-id';
import type { SecretBox } from '../../platform/lib/secret-box';
import { presentEndpointForOperator, presentPing, type Ping } from './webhooks-contract';
import { presentEvent } from '../../kit/service/envelope';
import type { WebhookDeliveryWorkflows } from '../../temporal/webhook-delivery-workflows';
import type { WebhookSender } from '../../adapters/webhooks/sender';
import { requireLockedAccount } from '../accounts/accounts';
import { makeChange, type ChangedBy } from '../../kit/service/audit';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import { auditOf, Choice, Choices, defineChange, Text } from '../../kit/service/change';
import { findOwn, listOwn, readAs } from '../../kit/service/own';

export type { AttemptCounts, EndpointCounts } from '../../db/webhooks/webhook-attempts';
export {
  type DeliveryWarning,
  WARNING_DAYS,
  WARNING_MAX,
} from '../../db/webhooks/delivery-warnings';
/** Endpoints of both modes, oldest first, without deleted ones. */
export { listEndpoints, type WebhookEndpoint } from '../../db/webhooks/webhook-endpoints';

const SECRET_BYTES = 32;

/** What some changes need besides the database. */
export interface WebhookTools {
  webhookSender: WebhookSender;
  secretBox: SecretBox;
  /**
   * Null without Temporal: the schedule restart-missing then starts the workflows within seconds.
   */
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows | null;
}

type Sender = Pick<WebhookTools, 'webhookSender'>;
type Secrets = Pick<WebhookTools, 'secretBox'>;

interface OneEndpoint {
  id: string;
}

/** A request with an idempotency key has the id already. */
type NewEndpoint = Owner & Sender & Secrets & Partial<OneEndpoint>;

const access = { needs: 'integrate', liveNeeds: 'manage' } as const;

const url = Text(2048, {
  label: 'URL',
  hint: 'A public address that receives events; HTTPS in live mode',
  placeholder: 'https://shop.example.com/webhooks',
  inputType: 'url',
  value: 'URL',
});
const events = Choices(
  SUBSCRIBABLE_EVENTS,
  { label: 'Events', hint: 'Choose all events, or single ones' },
  `All events, including future ones, without ${EVENTS_BY_NAME_ONLY.join(', ')}`,
);
export const SIGNATURE_NAMES = {
  gateway: 'Of the gateway',
  standard_webhooks: 'Of the gateway and of Standard Webhooks',
} as const;
const signature = Choice(
  SIGNATURES.map((value) => [value, SIGNATURE_NAMES[value]] as const),
  { label: 'Signature headers', without: 'of the gateway' },
);
const DESCRIPTION = { label: 'Description', hint: 'To tell endpoints apart' };

/** @throws InvalidInput, and AdminRefusal when the account has the maximum number */
export const createEndpoint = defineChange({
  action: 'webhook_endpoint.create',
  access,
  fields: {
    url,
    description: Type.Optional(Text(100, DESCRIPTION)),
    events,
    signature: Type.Optional(signature),
  },
  prepare: {
    url: (wanted, _, { webhookSender, mode }: NewEndpoint) => checkUrl(webhookSender, wanted, mode),
  },
  run: async (
    tx,
    { id: given, ...subject },
    { url, description = null, events, signature: chosen = 'gateway' },
  ) => {
    const { accountId, mode, secretBox } = subject;
    await requireLockedAccount(tx, accountId);
    await refuseOneTooMany(tx, accountId, mode);
    const id = given ?? newId('webhookEndpoint');
    const secret = makeSecret();
    const endpoint = await insertEndpoint(
      tx,
      { id, accountId, mode, url, events: readEvents(events), description, signature: chosen },
      secretBox.seal(secret, id),
    );
    return {
      result: { ...endpoint, secret },
      audit: auditOf(presentEndpointForOperator, null, endpoint),
    };
  },
});

/** Omitted fields stay unchanged, and an empty description removes it. */
export const editEndpoint = defineChange({
  action: 'webhook_endpoint.edit',
  access,
  fields: {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(Text(100, DESCRIPTION, { mayBeEmpty: true })),
    signature: Type.Optional(signature),
  },
  prepare: {
    url: async (wanted, db, { id, webhookSender }: OneEndpoint & Sender) => {
      const { mode } = await requireKnown(db, id);
      return checkUrl(webhookSender, wanted, mode);
    },
  },
  run: (tx, { id }, { url, events, description, signature: chosen }) =>
    saveChanged(tx, id, () => ({
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: readEvents(events) }),
      ...(description === undefined ? {} : { description: description || null }),
      ...(chosen === undefined ? {} : { signature: chosen }),
    })),
});

/** @throws AdminRefusal when it already has that state */
export const enableEndpoint = switchTo(true, 'enable', 'endpoint_already_enabled');
export const disableEndpoint = switchTo(false, 'disable', 'endpoint_already_disabled');

function switchTo(
  enabled: boolean,
  verb: string,
  code: 'endpoint_already_enabled' | 'endpoint_already_disabled',
) {
  return defineChange({
    action: `webhook_endpoint.${verb}`,
    access,
    fields: {},
    run: (tx, { id }: OneEndpoint) =>
      saveChanged(tx, id, (endpoint) => {
        if (endpoint.enabled === enabled) throw new AdminRefusal({ code, id });
        return { enabled };
      }),
  });
}

/** Permanent; the open deliveries of the endpoint end as skipped. */
export const deleteEndpoint = defineChange({
  action: 'webhook_endpoint.delete',
  access,
  fields: {},
  run: (tx, { id }: OneEndpoint) => saveChanged(tx, id, () => ({ deletedAt: new Date() })),
});

/** Gives an endpoint a new secret; nothing is signed with the old one any more. */
export const rollSecret = defineChange({
  action: 'webhook_endpoint.roll',
  access,
  fields: {},
  run: async (tx, { id, secretBox }: OneEndpoint & Secrets) => {
    const before = await requireEndpoint(tx, id);
    const secret = makeSecret();
    const rolled = await replaceEndpointSecret(tx, id, secretBox.seal(secret, id));
    return {
      result: { ...rolled, secret },
      audit: auditOf(presentEndpointForOperator, before, rolled),
    };
  },
});

export function listOwnEndpoints(db: Db, owner: Owner): Promise<WebhookEndpoint[]> {
  return listOwn(db, owner, listEndpoints);
}

/** Includes deleted endpoints. @throws AdminRefusal */
export function findOwnEndpoint(db: Db, owner: Owner, id: string): Promise<WebhookEndpoint> {
  return findOwn(db, owner, 'webhook_endpoint', id, findEndpoint);
}

/** What the merchant has to act on, for all endpoints. */
export function listOwnWarnings(db: Db, owner: Owner) {
  const idAtTime = (time: Date) => idAt('webhookDelivery', time);
  return listDeliveryWarnings(readAs(db, owner), owner, new Date(), idAtTime);
}

/** The attempts of the last 24 hours at one endpoint. */
export function countOwnAttempts(db: Db, owner: Owner, id: string) {
  return countAttempts(readAs(db, owner), id);
}

/** The recent attempts at all endpoints that are enabled. */
export function countOwnRecentAttempts(db: Db, owner: Owner) {
  return countRecentAttempts(readAs(db, owner), owner.accountId, owner.mode);
}

/**
 * The test event (decisions/webhooks#webhook-ping): one attempt, kept as a delivery; also for an endpoint that is
 * disabled or not subscribed. @param data of the event, to try a receiver with. @throws AdminRefusal
 */
export async function pingEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender, secretBox, id: endpointId }: OneEndpoint & Sender & Secrets,
  data?: Readonly<Record<string, unknown>>,
): Promise<Ping> {
  const { endpoint, secret } = await db.transaction(async (tx) => ({
    endpoint: await requireEndpoint(tx, endpointId),
    secret: secretBox.open(await lockEndpointSecret(tx, endpointId), endpointId),
  }));
  const { accountId, mode, url, signature: headers } = endpoint;
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
    signature: headers,
    body,
  });
  const { outcome, status, errorCode, error, durationMs } = result;
  const ids = { endpointId, eventId: event.id, deliveryId: newId('webhookDelivery') };
  const ping = { ...ids, outcome, status, errorCode, error, durationMs };
  return makeChange(db, by, async (tx) => {
    await insertPing(tx, { ...ids, accountId, mode, url, body, sentAt }, result);
    return {
      result: ping,
      audit: {
        action: 'webhook_endpoint.ping',
        object: 'webhook_endpoint',
        objectId: endpointId,
        accountId,
        before: null,
        after: presentPing(ping),
      },
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

async function saveChanged(
  tx: Tx,
  id: string,
  decide: (endpoint: WebhookEndpoint) => Partial<WebhookEndpoint>,
) {
  const before = await requireEndpoint(tx, id);
  const after = await saveEndpoint(tx, { ...before, ...decide(before) });
  return { result: after, audit: auditOf(presentEndpointForOperator, before, after) };
}

async function refuseOneTooMany(tx: Tx, accountId: string, mode: Mode): Promise<void> {
  const present = (await listEndpoints(tx, accountId)).filter((one) => one.mode === mode);
  if (present.length < ENDPOINTS_MAX) return;
  throw new AdminRefusal({ code: 'too_many_endpoints', accountId, mode, max: ENDPOINTS_MAX });
}

/** Each once, in their usual order. Null means all. */
function readEvents(names: readonly string[]): string[] | null {
  if (names.includes('all')) return null;
  return SUBSCRIBABLE_EVENTS.filter((event) => names.includes(event));
}

/** The key of the signature is the text itself, including its prefix (decisions/webhooks#webhook-secrets). */
function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
