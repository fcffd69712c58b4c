/**
 * Webhook endpoints, for whoever looks after them (decisions H2, H4, H8). A secret is in what the
 * caller gets, once; the database keeps it encrypted, the audit log not at all.
 */
import { randomBytes } from 'node:crypto';
import {
  findEndpoint,
  insertEndpoint,
  listEndpoints as readEndpoints,
  lockEndpoint,
  lockSecretsOfOtherKeys,
  replaceEndpointSecret,
  saveEndpoint,
  type WebhookEndpoint,
} from '../../db/repositories/webhook-endpoints';
import type { Db, Tx } from '../../db/transaction';
import { ENDPOINTS_MAX } from '../../domain/webhook-delivery';
import { SUBSCRIBABLE_EVENTS } from '../../domain/events';
import type { Mode } from '../../domain/mode';
import { newId } from '../../lib/new-id';
import type { SecretBox } from '../../lib/secret-box';
import type { WebhookDeliveryWorkflows } from '../../temporal/webhook-delivery-workflows';
import type { WebhookSender } from '../../webhooks/sender';
import { requireLockedAccount } from './accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './change';
import { checkText } from './checks';
import { AdminRefusal, InvalidInput } from './refusal';

const DESCRIPTION_LENGTH_MAX = 100;
const SECRET_BYTES = 32;

/** What some of these need besides the database. */
export interface WebhookTools {
  webhookSender: WebhookSender;
  secretBox: SecretBox;
  /** Null where no Temporal is known: the reconciler then does it within seconds. */
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows | null;
}

export interface EndpointSettings {
  url: string;
  /** Kinds, or `all` alone. */
  events: readonly string[];
  description: string | null;
}

export function presentEndpoint(endpoint: WebhookEndpoint) {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    account_id: endpoint.accountId,
    mode: endpoint.mode,
    url: endpoint.url,
    events: endpoint.events ?? ['all'],
    enabled: endpoint.enabled,
    description: endpoint.description,
    timeouts_in_a_row: endpoint.timeoutsInARow,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
    deleted_at: endpoint.deletedAt?.toISOString() ?? null,
  };
}

export type ShownEndpoint = ReturnType<typeof presentEndpoint>;
export type EndpointWithSecret = ShownEndpoint & { secret: string };

/** @throws InvalidInput, and AdminRefusal when the account has as many as it may have */
export async function createEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender, secretBox }: Pick<WebhookTools, 'webhookSender' | 'secretBox'>,
  { accountId, mode, ...settings }: EndpointSettings & { accountId: string; mode: Mode },
): Promise<EndpointWithSecret> {
  const events = readEvents(settings.events);
  const description = readDescription(settings.description);
  await checkUrl(webhookSender, settings.url, mode);
  return makeChange(db, by, async (tx) => {
    await requireLockedAccount(tx, accountId);
    await refuseOneTooMany(tx, accountId, mode);
    const id = newId('webhookEndpoint');
    const secret = makeSecret();
    const endpoint = await insertEndpoint(
      tx,
      { id, accountId, mode, url: settings.url, events, description },
      secretBox.seal(secret, id),
    );
    return {
      result: { ...presentEndpoint(endpoint), secret },
      audit: auditOf('webhook_endpoint.create', null, endpoint),
    };
  });
}

/** Members that are left out stay as they are. @throws InvalidInput, AdminRefusal */
export async function editEndpoint(
  db: Db,
  by: ChangedBy,
  { webhookSender }: Pick<WebhookTools, 'webhookSender'>,
  id: string,
  wish: Partial<EndpointSettings>,
): Promise<ShownEndpoint> {
  const change = {
    ...(wish.url === undefined ? {} : { url: wish.url }),
    ...(wish.events === undefined ? {} : { events: readEvents(wish.events) }),
    ...(wish.description === undefined ? {} : { description: readDescription(wish.description) }),
  };
  if (wish.url !== undefined)
    await checkUrl(webhookSender, wish.url, (await requireKnown(db, id)).mode);
  return changeEndpoint(db, by, id, 'webhook_endpoint.edit', () => change);
}

/** @throws AdminRefusal when it is so already */
export function enableEndpoint(
  db: Db,
  by: ChangedBy,
  id: string,
  enabled: boolean,
): Promise<ShownEndpoint> {
  const action = enabled ? 'webhook_endpoint.enable' : 'webhook_endpoint.disable';
  return changeEndpoint(db, by, id, action, (endpoint) => {
    if (endpoint.enabled !== enabled) return { enabled };
    throw new AdminRefusal(`${id} is ${enabled ? 'enabled' : 'disabled'} already.`);
  });
}

/** For good; its open deliveries end as skipped. @throws AdminRefusal */
export function deleteEndpoint(db: Db, by: ChangedBy, id: string): Promise<ShownEndpoint> {
  return changeEndpoint(db, by, id, 'webhook_endpoint.delete', () => ({ deletedAt: new Date() }));
}

/** A new secret; the old one is dead with the commit. @throws AdminRefusal */
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
      result: { ...presentEndpoint(rolled), secret },
      audit: auditOf('webhook_endpoint.roll', before, rolled),
    };
  });
}

/** Of both modes, oldest first, without those that were deleted. */
export async function listEndpoints(db: Db, accountId: string): Promise<ShownEndpoint[]> {
  return (await readEndpoints(db, accountId)).map(presentEndpoint);
}

/** Also one that was deleted. @throws AdminRefusal */
export async function showEndpoint(db: Db, id: string): Promise<ShownEndpoint> {
  return presentEndpoint(await requireKnown(db, id));
}

/**
 * Seals every secret with the key of today, so that an earlier key can be taken away. Secrets stay
 * as they are for the receivers.
 */
export async function resealSecrets(
  db: Db,
  by: ChangedBy,
  { secretBox }: Pick<WebhookTools, 'secretBox'>,
): Promise<{ object: string; key_id: string; resealed: number }> {
  return makeChange(db, by, async (tx) => {
    const secrets = await lockSecretsOfOtherKeys(tx, secretBox.keyId);
    for (const { id, ...sealed } of secrets) {
      await replaceEndpointSecret(tx, id, secretBox.seal(secretBox.open(sealed, id), id));
    }
    const result = {
      object: 'webhook_secrets',
      key_id: secretBox.keyId,
      resealed: secrets.length,
    };
    const { object } = result;
    const audit = { action: 'webhook_secrets.reseal', object, objectId: secretBox.keyId };
    return { result, audit: { ...audit, accountId: null, before: null, after: result } };
  });
}

/** Locked. @throws AdminRefusal when there is none, or it was deleted */
export async function requireEndpoint(tx: Tx, id: string): Promise<WebhookEndpoint> {
  const endpoint = await lockEndpoint(tx, id);
  if (endpoint !== null) return endpoint;
  return requireNotDeleted(await requireKnown(tx, id));
}

/** @throws AdminRefusal */
export function requireNotDeleted(endpoint: WebhookEndpoint): WebhookEndpoint {
  const { id, deletedAt } = endpoint;
  if (deletedAt === null) return endpoint;
  throw new AdminRefusal(`${id} was deleted at ${deletedAt.toISOString()}: make a new one.`);
}

/** @throws AdminRefusal */
export async function requireKnown(db: Db | Tx, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(db, id);
  if (endpoint !== null) return endpoint;
  throw new AdminRefusal(
    `The endpoint ${id} does not exist: \`webhooks list\` shows those that do.`,
  );
}

/** @throws InvalidInput with the rule that the address breaks */
export async function checkUrl(sender: WebhookSender, url: string, mode: Mode): Promise<void> {
  const verdict = await sender.check(url, mode);
  if (!verdict.ok) throw new InvalidInput('url', `cannot be used: ${verdict.message}`);
}

async function changeEndpoint(
  db: Db,
  by: ChangedBy,
  id: string,
  action: string,
  decide: (endpoint: WebhookEndpoint) => Partial<WebhookEndpoint>,
): Promise<ShownEndpoint> {
  return makeChange(db, by, async (tx) => {
    const before = await requireEndpoint(tx, id);
    const after = await saveEndpoint(tx, { ...before, ...decide(before) });
    return { result: presentEndpoint(after), audit: auditOf(action, before, after) };
  });
}

async function refuseOneTooMany(tx: Tx, accountId: string, mode: Mode): Promise<void> {
  const present = (await readEndpoints(tx, accountId)).filter((one) => one.mode === mode);
  if (present.length < ENDPOINTS_MAX) return;
  throw new AdminRefusal(
    `${accountId} has ${present.length} endpoints in ${mode} mode, and ${ENDPOINTS_MAX} is the ` +
      'most: delete one first.',
  );
}

function readEvents(names: readonly string[]): string[] | null {
  if (names.length === 1 && names[0] === 'all') return null;
  const unknown = names.find((name) => !SUBSCRIBABLE_EVENTS.includes(name));
  if (unknown === undefined && names.length > 0) {
    return SUBSCRIBABLE_EVENTS.filter((name) => names.includes(name));
  }
  throw new InvalidInput(
    'events',
    `"${unknown ?? ''}" is no event: write all, or some of ${SUBSCRIBABLE_EVENTS.join(', ')}.`,
  );
}

function readDescription(text: string | null): string | null {
  return text === null ? null : checkText('description', text, DESCRIPTION_LENGTH_MAX);
}

/** Decision H2: the text itself, prefix included, is the key of the signature. */
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
