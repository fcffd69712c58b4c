/**
 * Recipients (decisions/payouts#recipients): what the API, the dashboard and the admin command do with them. A
 * change writes the row, its event with the deliveries, and the audit row in one transaction. How long a
 * live destination waits is the database's (db/migrations/baseline/recipients.ts).
 */
import { appendAudit } from '../../db/audit/audit-log';
import { listPayoutRoutes } from '../../db/accounts/currency-routes';
import { appendEvent, type EventTx, transactionOfEvents } from '../../db/webhooks/events';
import { lockClaim, storeResponse } from '../../db/idempotency';
import {
  deleteRecipient,
  findRecipient,
  insertRecipient,
  listRecipients,
  lockRecipient,
  type RecipientFilters,
  type SavedRecipient,
  saveRecipient,
} from '../../db/recipients/recipients';
import { findPayoutsAwaiting } from '../../db/payouts/payout-conditions';
import { findPersonOf, findSecondPersonRule } from '../../db/approvals/second-person';
import type { Db, Tx } from '../../db/transaction';
import { ApiError, type Refusal } from '../../domain/errors';
import type { RecipientEvent } from '../../domain/events';
import { amount } from '../../domain/money';
import {
  destinationOf,
  type Recipient,
  type RecipientChange,
  type RecipientRequest,
} from '../../domain/recipient';
import { newId } from '../../platform/lib/new-id';
import { presentCreated, presentEvent } from '../../kit/service/envelope';
import { presentRecipient } from './recipients-contract';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import { payoutStart, type PayoutWorkflows } from '../../temporal/payout-workflows';
import type { WebhookDeliveryWorkflows } from '../../temporal/webhook-delivery-workflows';
import type { ChangedBy } from '../../kit/service/audit';
import { type ClaimDeps, readAnswer, runClaimed } from '../../kit/service/idempotency';
import { chooseRoute } from '../payouts/payouts';
import type { Caller, ListPosition, Page, StoredResponse } from '../../kit/service/services';

export interface RecipientsDeps extends ClaimDeps {
  providers: ProviderRegistry;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows;
  payoutWorkflows: Pick<PayoutWorkflows, 'wake'>;
}

/** How many payouts a change wakes; `restart-missing` wakes the others, and those whose message was lost. */
const WOKEN_AT_ONCE = 100;

export type Recipients = ReturnType<typeof createRecipients>;

export function createRecipients(deps: RecipientsDeps) {
  return {
    /** @throws ApiError for a destination that no payout reaches, and idempotency's */
    create: (
      caller: Caller,
      by: ChangedBy,
      input: { idempotencyKey: string; request: RecipientRequest },
    ): Promise<StoredResponse> => create(deps, caller, by, input),

    /** Stores nothing. @returns why it would be refused, or null */
    check: async (caller: Caller, request: RecipientRequest): Promise<Refusal | null> => {
      try {
        await savedOf(deps, caller, request);
        return null;
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) return error.refusal;
        throw error;
      }
    },

    list: (
      caller: Caller,
      query: { limit: number; after: ListPosition | null; filters: RecipientFilters },
    ): Promise<Page<Recipient>> => listRecipients(deps.db, { ...caller, ...query }),

    /** @throws ApiError not_found */
    get: async (caller: Caller, id: string): Promise<Recipient> => {
      const recipient = await findRecipient(deps.db, caller, id);
      if (recipient === null) throw unknown();
      return recipient;
    },

    /** A repeated change does nothing more. @throws ApiError not_found, invalid_state, and as `create` */
    update: (caller: Caller, by: ChangedBy, id: string, change: RecipientChange) =>
      inChange(deps, id, async (tx) => {
        const before = await locked(tx, caller, id);
        if (before.deletedAt !== null) throw deleted();
        const saved = await savedOf({ ...deps, db: tx }, caller, changed(before, change));
        if (isSame(before, saved)) return before;
        const person = await secondPersonOf(tx, caller, saved.currency);
        const after = await saveRecipient(tx, id, saved, person);
        await record(tx, by, 'updated', before, after);
        return after;
      }),

    /** A repeated deletion does nothing more. @throws ApiError not_found */
    remove: (caller: Caller, by: ChangedBy, id: string) =>
      inChange(deps, id, async (tx) => {
        const before = await locked(tx, caller, id);
        if (before.deletedAt !== null) return before;
        const after = await deleteRecipient(tx, id);
        await record(tx, by, 'deleted', before, after);
        return after;
      }),

    /** Makes waiting payouts look again after the approval of a second person. */
    lookAgain: (id: string): Promise<void> => wakeWaiting(deps, id),
  };
}

/** After the commit, the payouts that wait for the recipient look again. */
async function inChange(
  deps: RecipientsDeps,
  id: string,
  work: (tx: EventTx) => Promise<Recipient>,
): Promise<Recipient> {
  const result = await inEventTransaction(deps, work);
  void wakeWaiting(deps, id).catch(() => undefined);
  return result;
}

async function wakeWaiting({ db, payoutWorkflows }: RecipientsDeps, id: string): Promise<void> {
  const payouts = await findPayoutsAwaiting(db, id, WOKEN_AT_ONCE);
  await Promise.allSettled(payouts.map((payout) => payoutWorkflows.wake(payoutStart(payout))));
}

/** A recipient has no amount, so it waits as soon as its currency has one (decisions/controls#second-person). */
async function secondPersonOf(
  tx: Tx,
  { accountId, apiKeyId }: Caller,
  currency: string,
): Promise<string | null> {
  const rule = await findSecondPersonRule(tx, accountId);
  return rule[currency] === undefined ? null : findPersonOf(tx, apiKeyId);
}

async function create(
  deps: RecipientsDeps,
  caller: Caller,
  by: ChangedBy,
  { idempotencyKey, request }: { idempotencyKey: string; request: RecipientRequest },
): Promise<StoredResponse> {
  const id = newId('recipient');
  return runClaimed<RecipientRequest, SavedRecipient>(deps, {
    caller,
    objectId: id,
    endpoint: '/recipients',
    idempotencyKey,
    request,
    prepare: () => savedOf(deps, caller, request),
    create: async (saved) => {
      await inEventTransaction(deps, async (tx) => {
        // The claim has ended, and the same request may have created another one.
        if ((await lockClaim(tx, id)) === null) return;
        const { accountId, mode, apiKeyId: createdBy } = caller;
        const secondPerson = await secondPersonOf(tx, caller, saved.currency);
        const after = await insertRecipient(tx, {
          ...saved,
          id,
          accountId,
          mode,
          createdBy,
          secondPerson,
        });
        await record(tx, by, 'created', null, after);
        await storeResponse(tx, id, presentCreated(presentRecipient(after)));
      });
      return readAnswer(deps.db, id);
    },
  });
}

/**
 * The row of a request, after checking that a payout to it would have a route.
 * @throws ApiError validation_failed, destination_not_supported, network_required
 */
async function savedOf(
  deps: Pick<RecipientsDeps, 'providers'> & { db: Db | Tx },
  caller: Caller,
  { destination, ...request }: RecipientRequest,
): Promise<SavedRecipient> {
  const payout = { ...request, destination, amount: ANY_AMOUNT, provider: null, ...UNNAMED };
  const routes = await listPayoutRoutes(deps.db, request.currency);
  const ofAnyAmount = routes.map((one) => ({ ...one, minAmount: ANY_AMOUNT, maxAmount: null }));
  const { network } = chooseRoute(deps, { caller, request: payout }, ofAnyAmount);
  const {
    type: destinationType,
    value: destinationValue,
    memo: destinationMemo = null,
  } = destination;
  return { ...request, network, destinationType, destinationValue, destinationMemo };
}

const ANY_AMOUNT = amount('1');
const UNNAMED = { reference: '', description: null, metadata: {} };

/** A new type of destination does not keep the network of the earlier one. */
function changed(before: Recipient, change: RecipientChange): RecipientRequest {
  const { name, currency, network, tags, destinationType } = before;
  const destination = change.destination ?? destinationOf(before);
  const kept = destination.type === destinationType ? network : null;
  return { name, currency, network: kept, tags, ...change, destination };
}

function isSame(before: Recipient, saved: SavedRecipient): boolean {
  return Object.entries(saved).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(before[field as keyof Recipient]),
  );
}

async function locked(tx: Tx, caller: Caller, id: string): Promise<Recipient> {
  const recipient = await lockRecipient(tx, caller, id);
  if (recipient === null) throw unknown();
  return recipient;
}

/** A recipient of another account or mode gets the same error as one that does not exist. */
function unknown(): ApiError {
  return new ApiError({ code: 'not_found', details: { resource: 'recipient' } });
}

function deleted(): ApiError {
  const message = 'This recipient is deleted. Create a new one.';
  return new ApiError({ code: 'invalid_state', details: { status: 'deleted' }, message });
}

async function record(
  tx: EventTx,
  by: ChangedBy,
  verb: 'created' | 'updated' | 'deleted',
  before: Recipient | null,
  after: Recipient,
): Promise<void> {
  const { id: objectId, accountId, mode, sequence, updatedAt: createdAt } = after;
  const type: RecipientEvent = `recipient.${verb}`;
  const head = { id: newId('event'), type, mode, sequence, createdAt };
  const body = presentEvent(head, presentRecipient(after));
  appendEvent(tx, { ...head, accountId, objectId, body, actor: by.actor });
  await appendAudit(tx, {
    ...by,
    action: `recipient.${ACTIONS[verb]}`,
    object: 'recipient',
    objectId,
    accountId,
    before: before === null ? null : presentRecipient(before),
    after: presentRecipient(after),
  });
}

const ACTIONS = { created: 'create', updated: 'edit', deleted: 'delete' } as const;

/** After the commit the deliveries are started; restart-missing starts those that are lost here. */
async function inEventTransaction<T>(
  { db, webhookDeliveryWorkflows }: RecipientsDeps,
  work: (tx: EventTx) => Promise<T>,
): Promise<T> {
  const { result, deliveries } = await transactionOfEvents(db, work);
  for (const delivery of deliveries) {
    void webhookDeliveryWorkflows.start(delivery).catch(() => undefined);
  }
  return result;
}
