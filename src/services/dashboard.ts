/**
 * What the pages of the merchant dashboard read and change. Every function takes the visitor's
 * account and mode, and an object of another account or mode does not exist. src/deps.ts builds it.
 */
import { listApiKeys } from '../db/repositories/api-keys';
import { type Balance, listBalances } from '../db/repositories/ledger';
import { listPayments, listPayouts, type ListPage } from '../db/repositories/lists';
import {
  type Attention,
  type HistoryEvent,
  listHistory,
  readAttention,
} from '../db/repositories/object-history';
import { findPayment } from '../db/repositories/payments';
import { findPayout } from '../db/repositories/payouts';
import { listTransactions } from '../db/repositories/transactions';
import { findWebhookDelivery } from '../db/repositories/webhook-deliveries';
import { findEndpoint, listEndpoints } from '../db/repositories/webhook-endpoints';
import type { Db } from '../db/transaction';
import type { MerchantTransaction, TransactionFilters } from '../domain/ledger';
import type { Mode } from '../domain/mode';
import type { Payment, PaymentFilters } from '../domain/payment';
import type { Payout, PayoutFilters } from '../domain/payout';
import { AdminRefusal, type NotFoundObject } from './admin/refusal';
import { createDashboardKeys, type DashboardKeys } from './dashboard-keys';
import { createDashboardWebhooks, type DashboardWebhooks } from './dashboard-webhooks';
import type { ListPosition } from './services';
import type { WebhookTools } from './admin/webhooks';

export type { Attention, HistoryEvent } from '../db/repositories/object-history';
export { ATTENTION_MAX } from '../db/repositories/object-history';

export interface Owner {
  accountId: string;
  mode: Mode;
}

interface ListRequest<Filters> {
  limit: number;
  after: ListPosition | null;
  filters: Filters;
}

export interface WithHistory<T> {
  object: T;
  events: HistoryEvent[];
  transactions: MerchantTransaction[];
}

export interface DashboardServices {
  balances: (owner: Owner) => Promise<Balance[]>;
  attention: (owner: Owner) => Promise<Attention>;
  payments: (owner: Owner, list: ListRequest<PaymentFilters>) => Promise<ListPage<Payment>>;
  /** @throws AdminRefusal */
  payment: (owner: Owner, id: string) => Promise<WithHistory<Payment>>;
  payouts: (owner: Owner, list: ListRequest<PayoutFilters>) => Promise<ListPage<Payout>>;
  /** @throws AdminRefusal */
  payout: (owner: Owner, id: string) => Promise<WithHistory<Payout>>;
  transactions: (
    owner: Owner,
    list: ListRequest<TransactionFilters>,
  ) => Promise<ListPage<MerchantTransaction>>;
  keys: DashboardKeys;
  webhooks: DashboardWebhooks;
}

export interface DashboardDeps extends WebhookTools {
  db: Db;
  pepper: string;
}

export function createDashboardServices(deps: DashboardDeps): DashboardServices {
  const { db } = deps;
  const history = async (owner: Owner, id: string) => {
    const filters = { sourceId: id };
    const [events, { items: transactions }] = await Promise.all([
      listHistory(db, id),
      listTransactions(db, { ...owner, limit: 100, after: null, filters }),
    ]);
    return { events, transactions };
  };
  return {
    balances: ({ accountId, mode }) => listBalances(db, accountId, mode),
    attention: ({ accountId, mode }) => readAttention(db, accountId, mode),
    payments: (owner, list) => listPayments(db, { ...owner, ...list }),
    payment: async (owner, id) => {
      const object = requireOwn(owner, await findPayment(db, id), 'payment', id);
      return { object, ...(await history(owner, id)) };
    },
    payouts: (owner, list) => listPayouts(db, { ...owner, ...list }),
    payout: async (owner, id) => {
      const object = requireOwn(owner, await findPayout(db, id), 'payout', id);
      return { object, ...(await history(owner, id)) };
    },
    transactions: (owner, list) => listTransactions(db, { ...owner, ...list }),
    keys: createDashboardKeys(deps, async (owner, id) => {
      const keys = await listApiKeys(db, owner.accountId);
      const key = keys.find((one) => one.id === id) ?? null;
      return requireOwn(owner, key, 'api_key', id);
    }),
    webhooks: createDashboardWebhooks(deps, {
      endpoints: async ({ accountId, mode }) =>
        (await listEndpoints(db, accountId)).filter((endpoint) => endpoint.mode === mode),
      endpoint: async (owner, id) =>
        requireOwn(owner, await findEndpoint(db, id), 'webhook_endpoint', id),
      delivery: async (owner, id) =>
        requireOwn(owner, await findWebhookDelivery(db, id), 'webhook_delivery', id),
    }),
  };
}

/** @throws AdminRefusal: an object of another account or mode is not told apart from none */
function requireOwn<T extends Owner>(
  owner: Owner,
  object: T | null,
  kind: NotFoundObject,
  id: string,
): T {
  if (object?.accountId === owner.accountId && object.mode === owner.mode) return object;
  throw new AdminRefusal({ code: 'not_found', object: kind, id });
}
