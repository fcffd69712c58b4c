/**
 * What the pages of the merchant dashboard read and change. Every function takes the visitor's
 * account and mode, and an object of another account or mode does not exist. src/shell/deps.ts builds it.
 */
import type { Owner } from '../../domain/mode';
import type { ReconciliationRequest } from '../../domain/merchant-reconciliation';
import { readBookkeeping } from '../../db/books/bookkeeping';
import { listBalances } from '../../db/ledger/ledger';
import { listPayments } from '../../db/payments/payment-list';
import { listPayouts } from '../../db/payouts/payout-list';
import { type HistoryEvent, listHistory, readAttention } from '../../db/object-history';
import { findRefund, listMerchantRefunds, listRefunds } from '../../db/payments/payment-refunds';
import { type CreditedTransfer, findPayment, listCredits } from '../../db/payments/payments';
import { listPendingPayments } from '../../db/payments/pending-payments';
import {
  findPayoutSchedule,
  listPayoutSchedules,
} from '../../db/payout-schedules/payout-schedules';
import { listScheduleRuns } from '../../db/payout-schedules/payout-schedule-runs';
import { findPayout } from '../../db/payouts/payouts';
import { findBalanceAlerts } from '../../db/books/balance-alerts';
import { listPersonDecisions } from '../../db/approvals/person-decisions';
import { findSecondPersonRule, listApprovers } from '../../db/approvals/second-person';
import { findRecipient, listRecipients, readRecipients } from '../../db/recipients/recipients';
import {
  findFirstOfKey,
  findRequest,
  listRequests,
  type LoggedRequest,
} from '../../db/request-log/request-log';
import { listTransactionLines, listTransactions } from '../../db/books/transactions';
import { listWaiting } from '../../db/approvals/waiting-for-person';
import { findPerson } from '../../db/people/users';
import type { Db, Reader } from '../../db/transaction';
import type { Bookkeeping } from '../../domain/bookkeeping';
import type { ErrorCode } from '../../domain/errors';
import { isId } from '../../domain/ids';
import type { MerchantTransaction } from '../../domain/ledger';
import type { Payment } from '../../domain/payment';
import type { Payout } from '../../domain/payout';
import type { Refund } from '../../domain/refund';
import { type AuditQuery, readAuditLogOfAccount } from '../../features/audit/audit-log';
import { createDashboardBooks } from '../../features/books/dashboard-books';
import { createDashboardMoney, type MoneyServices } from './money';
import { exportFile, type ExportRequest } from '../../features/books/exports';
import { reconcile } from '../../features/books/merchant-reconciliation';
import { createExplainSignature } from '../../features/webhooks/dashboard-signatures';
import { readRefundMail, type RefundMail } from '../../features/payments/refund-addresses';
import { requireRecipientRules } from '../../features/recipients/recipient-rules';
import { compareRequests, type ReusedKey } from '../../features/request-log/request-differences';
import { findOwn, readAs } from '../../kit/service/own';
import type { ListPosition, Page } from '../../kit/service/services';
import type { WebhookTools } from '../../features/webhooks/webhook-endpoints';

export type { Attention, HistoryDelivery, HistoryEvent } from '../../db/object-history';
export type { PersonDecision } from '../../db/approvals/person-decisions';
export type { LoggedRequest } from '../../db/request-log/request-log';
export type { ReusedKey } from '../../features/request-log/request-differences';
export { KEPT_DAYS } from '../../db/request-log/request-log';
export { ATTENTION_MAX } from '../../db/object-history';

/** What the changes of the pages need, for those that call a change themselves (change.ts). */
interface KeyTools {
  db: Db;
  pepper: string;
}

/** The error of a request that used the key of another one. */
const REUSED_KEY: ErrorCode = 'idempotency_key_reused';

export interface RequestDetail extends LoggedRequest {
  /** What a reused idempotency key was used for, if the first request is still in the log. */
  reused: ReusedKey | null;
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
  creator: Creator;
}

export interface PaymentDetail extends WithHistory<Payment> {
  credits: CreditedTransfer[];
}

export interface RefundDetail extends Pick<WithHistory<Refund>, 'object' | 'events'> {
  /** Null means the operator, or the provider. */
  creator: Creator | null;
  payment: Payment;
  /** The mail that asks the customer for an address. */
  mail: RefundMail | null;
  /** The payout that sends it. */
  payout: Payout | null;
}

/** Who created it: an API key, or a person on the dashboard. */
export type Creator = { kind: 'key'; id: string } | { kind: 'person'; name: string; email: string };

export interface DashboardDeps extends WebhookTools, KeyTools {
  api: MoneyServices;
}

export type DashboardServices = ReturnType<typeof createDashboardServices>;

export function createDashboardServices(deps: DashboardDeps) {
  const { db, pepper, webhookSender, secretBox, webhookDeliveryWorkflows } = deps;
  /** The reader of a page's objects, which sees one account. Changes and sign-ins do not use it. */
  const ofAccount = (owner: Pick<Owner, 'accountId'>) => readAs(db, owner);
  const listed =
    <Filters, Item>(
      list: (reader: Reader, query: Owner & ListRequest<Filters>) => Promise<Page<Item>>,
    ) =>
    (owner: Owner, query: ListRequest<Filters>) =>
      list(ofAccount(owner), { ...owner, ...query });
  const history = async (owner: Owner, { id, apiKeyId }: Payment | Payout) => {
    const filters = { sourceId: id };
    const [events, { items: transactions }, creator] = await Promise.all([
      listHistory(ofAccount(owner), id),
      listTransactions(ofAccount(owner), { ...owner, limit: 100, after: null, filters }),
      creatorOf(db, apiKeyId),
    ]);
    return { events, transactions, creator };
  };
  return {
    db,
    pepper,
    webhookTools: { webhookSender, secretBox, webhookDeliveryWorkflows },
    balances: (owner: Owner) => listBalances(ofAccount(owner), owner.accountId, owner.mode),
    attention: (owner: Owner) => readAttention(ofAccount(owner), owner.accountId, owner.mode),
    payments: listed(listPayments),
    /** The newest payments that are part of the `pending` of a balance. */
    pendingPayments: (owner: Owner, currency: string, limit: number) =>
      listPendingPayments(ofAccount(owner), owner, currency, limit),
    /** @throws AdminRefusal */
    payment: async (owner: Owner, id: string): Promise<PaymentDetail> => {
      const object = await findOwn(db, owner, 'payment', id, findPayment);
      return {
        object,
        credits: await listCredits(ofAccount(owner), id),
        ...(await history(owner, object)),
      };
    },
    refunds: listed(listMerchantRefunds),
    refundsOf: (owner: Owner, paymentId: string) => listRefunds(ofAccount(owner), paymentId),
    /** @throws AdminRefusal */
    refund: (owner: Owner, id: string) => readRefund(db, owner, id),
    payouts: listed(listPayouts),
    /** @throws AdminRefusal */
    payout: async (owner: Owner, id: string): Promise<WithHistory<Payout>> => {
      const object = await findOwn(db, owner, 'payout', id, findPayout);
      return { object, ...(await history(owner, object)) };
    },
    transactions: listed(listTransactions),
    transactionLines: listed(listTransactionLines),
    recipients: {
      list: listed(listRecipients),
      /** Finds an endpoint, even a deleted one. @throws AdminRefusal */
      find: (owner: Owner, id: string) =>
        findOwn(db, owner, 'recipient', id, (reader) => findRecipient(reader, owner, id)),
      rules: ({ accountId }: Owner) => requireRecipientRules(db, accountId),
    },
    schedules: {
      list: (owner: Owner, list: Omit<ListRequest<never>, 'filters'>) =>
        listPayoutSchedules(ofAccount(owner), { ...owner, ...list }),
      /** A schedule with the recipients that its rows name. @throws AdminRefusal */
      find: (owner: Owner, id: string) => readSchedule(db, owner, id),
      runs: (owner: Owner, id: string, list: Omit<ListRequest<never>, 'filters'>) =>
        listScheduleRuns(ofAccount(owner), id, list),
    },
    /** Objects that wait for a second person, the oldest first, with the person who made each. */
    waitingForPerson: (owner: Owner, limit: number) => readWaiting(db, owner, limit),
    /** Who approved or declined the object as the second person. */
    decisions: ({ accountId }: Owner, objectId: string) =>
      listPersonDecisions(db, accountId, objectId),
    creatorOf: (id: string) => creatorOf(db, id),
    balanceAlerts: (owner: Owner) => findBalanceAlerts(db, owner),
    secondPersonRule: ({ accountId }: Owner) => findSecondPersonRule(db, accountId),
    /** The people of the account who may approve as the second person. */
    approvers: ({ accountId }: Owner) => listApprovers(db, accountId),
    money: createDashboardMoney(db, deps.api),
    books: createDashboardBooks(db),
    bookkeeping: ({ accountId }: Owner) => readBookkeeping(db, accountId),
    exportFile: (
      { accountId, mode }: Owner,
      books: Bookkeeping,
      request: Omit<ExportRequest, keyof Owner>,
    ) => exportFile(ofAccount({ accountId }), books, { accountId, mode, ...request }),
    reconcile: (owner: Owner, request: ReconciliationRequest) =>
      reconcile(ofAccount(owner), owner, request),
    explainSignature: createExplainSignature(db),
    requests: listed(listRequests),
    /** @throws AdminRefusal */
    request: (owner: Owner, id: string) => readRequest(db, owner, id),
    /** What the account's users did, and what operators changed. */
    auditLog: (accountId: string, query: AuditQuery) =>
      readAuditLogOfAccount(ofAccount({ accountId }), accountId, query),
  };
}

async function creatorOf(db: Db, id: string): Promise<Creator> {
  if (!isId('user', id)) return { kind: 'key', id };
  return { kind: 'person', ...(await findPerson(db, id)) };
}

async function readRefund(db: Db, owner: Owner, id: string): Promise<RefundDetail> {
  const object = await findOwn(db, owner, 'refund', id, findRefund);
  const reader = readAs(db, owner);
  const payment = await findOwn(db, owner, 'payment', object.paymentId, findPayment);
  const [events, creator, mail, payout] = await Promise.all([
    listHistory(reader, id),
    object.apiKeyId === null ? null : creatorOf(db, object.apiKeyId),
    readRefundMail(db, object, payment),
    object.payoutId === null ? null : findPayout(reader, object.payoutId),
  ]);
  return { object, events, creator, payment, mail, payout };
}

async function readWaiting(db: Db, owner: Owner, limit: number) {
  const rows = await listWaiting(readAs(db, owner), owner, limit);
  const makers = [...new Set(rows.map(({ maker }) => maker))];
  const people = await Promise.all(makers.map((id) => findPerson(db, id)));
  return rows.map((row) => {
    const { name, email } = people[makers.indexOf(row.maker)] ?? { name: '', email: row.maker };
    return { ...row, person: { name, email } };
  });
}

async function readRequest(db: Db, owner: Owner, id: string): Promise<RequestDetail> {
  const found = await findOwn(db, owner, 'request', id, (reader) =>
    findRequest(reader, { ...owner, id }),
  );
  const isReused = found.status >= 400 && found.responseBody?.includes(`"${REUSED_KEY}"`) === true;
  const first = isReused ? await findFirstOfKey(readAs(db, owner), found) : null;
  return { ...found, reused: first === null ? null : compareRequests(first, found) };
}

async function readSchedule(db: Db, owner: Owner, id: string) {
  const schedule = await findOwn(db, owner, 'payout_schedule', id, findPayoutSchedule);
  const [creator, recipients] = await Promise.all([
    creatorOf(db, schedule.apiKeyId),
    readRecipients(readAs(db, owner), owner, schedule.payouts),
  ]);
  return { schedule, creator, recipients };
}
