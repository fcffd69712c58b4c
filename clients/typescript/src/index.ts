/**
 * The TypeScript SDK: `payments-gateway/client`. It needs nothing but Node's own modules, and works with
 * `import` and `require`. docs/guides/sdk.md describes it.
 */
import { createEvents, type Events } from './events';
import type {
  ApiKey,
  ApiKeyRequest,
  ApiKeyWithSecret,
  Balance,
  CurrencyList,
  FeeQuote,
  FeeRule,
  ListApiKeysQuery,
  ListPaymentRefundsQuery,
  ListPaymentsQuery,
  ListPayoutBatchesQuery,
  ListPayoutSchedulesQuery,
  ListPayoutsQuery,
  ListRecipientsQuery,
  ListRefundsQuery,
  ListRequestLogsQuery,
  ListTransactionsQuery,
  ListWebhookDeliveriesQuery,
  ListWebhookEndpointsQuery,
  Payment,
  PaymentRequest,
  Payout,
  PayoutBatch,
  PayoutBatchCheck,
  PayoutBatchProof,
  PayoutDossier,
  PayoutBatchRequest,
  PayoutSchedule,
  PayoutScheduleCheck,
  PayoutScheduleRequest,
  PayoutScheduleRun,
  PayoutRequest,
  QuoteFeeQuery,
  Recipient,
  Reconciliation,
  ReconciliationRequest,
  RecipientChange,
  RecipientRequest,
  Refund,
  RefundRequest,
  RequestLog,
  Transaction,
  WebhookDelivery,
  WebhookDeliveryWithAttempts,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest,
  WebhookEndpointWithSecret,
  WebhookPing,
} from './generated';
import { createList, type List } from './list';
import { at, cancel, getOne, type One, one } from './one';
import {
  type CallOptions,
  type ClientOptions,
  type CreateOptions,
  createSend,
  newIdempotencyKey,
  type Send,
} from './request';
import { signWebhook, verifyWebhook } from './webhooks';

export * from './errors';
export {
  DossierError,
  type DossierErrorCode,
  type VerifiedDossier,
  verifyDossier,
} from './dossier';
export type * from './generated';
export type { EventListQuery, EventPage, Events, FeedQuery, FollowOptions } from './events';
export type { List, Page } from './list';
export type { CallOptions, ClientOptions, CreateOptions } from './request';
export {
  type VerifyOptions,
  type WebhookErrorCode,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhooks';

/** Functions for receivers of webhooks, which need no client. */
export const webhooks = {
  /** Returns the event if the webhook is authentic and recent; throws WebhookVerificationError. */
  verify: verifyWebhook,
  /** The value of X-Gateway-Signature, for tests of a receiver. */
  sign: signWebhook,
};

export class GatewayClient {
  readonly payments: Payments;
  readonly refunds: Refunds;
  readonly payouts: Payouts;
  readonly payoutBatches: PayoutBatches;
  readonly payoutSchedules: PayoutSchedules;
  readonly recipients: Recipients;
  readonly balance: { get(options?: CallOptions): Promise<Balance> };
  readonly transactions: {
    list(query?: ListTransactionsQuery, options?: CallOptions): List<Transaction>;
    get(id: string, options?: CallOptions): Promise<Transaction>;
  };
  readonly reconciliations: {
    /** Compares your list with what has moved. Nothing is stored. */
    create(request: ReconciliationRequest, options?: CallOptions): Promise<Reconciliation>;
  };
  readonly fees: Fees;
  readonly currencies: { list(options?: CallOptions): Promise<CurrencyList> };
  readonly events: Events;
  readonly apiKeys: ApiKeys;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly requestLogs: {
    /** The requests of all keys of the account in this mode, newest first. */
    list(query?: ListRequestLogsQuery, options?: CallOptions): List<RequestLog>;
    /** By the ID in X-Request-Id, or `requestId` of an error. */
    get(id: string, options?: CallOptions): Promise<RequestLog>;
  };
  readonly webhooks = webhooks;

  /** @throws TypeError for invalid options */
  constructor(options: ClientOptions) {
    const send = createSend(options);
    this.payments = createPayments(send);
    this.refunds = createRefunds(send);
    this.payouts = createPayouts(send);
    this.payoutBatches = createPayoutBatches(send);
    this.payoutSchedules = createPayoutSchedules(send);
    this.recipients = createRecipients(send);
    this.balance = {
      get: (callOptions) => send<Balance>({ method: 'GET', path: '/balance', ...callOptions }),
    };
    this.transactions = {
      list: (query, callOptions) => createList(send, '/transactions', query, callOptions),
      get: (id, callOptions) => getOne(send, '/transactions', id, callOptions),
    };
    this.reconciliations = {
      create: (body, callOptions) =>
        one(
          send<One<Reconciliation>>({
            method: 'POST',
            path: '/reconciliations',
            body,
            ...callOptions,
          }),
        ),
    };
    this.fees = createFees(send);
    this.currencies = {
      list: (callOptions) =>
        send<CurrencyList>({ method: 'GET', path: '/currencies', ...callOptions }),
    };
    this.events = createEvents(send);
    this.apiKeys = createApiKeys(send);
    this.requestLogs = {
      list: (query, callOptions) => createList(send, '/request_logs', query, callOptions),
      get: (id, callOptions) => getOne(send, '/request_logs', id, callOptions),
    };
    this.webhookEndpoints = createWebhookEndpoints(send);
    this.webhookDeliveries = createWebhookDeliveries(send);
  }
}

interface Payments {
  /** The response's `checkout_url` is where you send the customer. */
  create(request: PaymentRequest, options?: CreateOptions): Promise<Payment>;
  get(id: string, options?: CallOptions): Promise<Payment>;
  list(query?: ListPaymentsQuery, options?: CallOptions): List<Payment>;
  /** Asks the provider for the latest status of an open payment. */
  verify(id: string, options?: CallOptions): Promise<Payment>;
  /** Closes the checkout of a payment that nobody has paid. @throws InvalidStateError afterwards */
  cancel(id: string, options?: CallOptions): Promise<Payment>;
}

function createPayments(send: Send): Payments {
  const path = '/payments';
  return {
    create: (body, options) => create(send, path, body, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    verify: (id, options) =>
      one(send<One<Payment>>({ method: 'POST', path: `${at(path, id)}/verify`, ...options })),
    cancel: (id, options) => cancel<Payment>(send, path, id, options),
  };
}

interface Refunds {
  /** Takes the money from your balance. Without an amount, it refunds everything that is left. */
  create(paymentId: string, request: RefundRequest, options?: CreateOptions): Promise<Refund>;
  get(id: string, options?: CallOptions): Promise<Refund>;
  /** Takes back a refund that waits for an address or a second person. */
  cancel(id: string, options?: CallOptions): Promise<Refund>;
  list(query?: ListRefundsQuery, options?: CallOptions): List<Refund>;
  /** The refunds of one payment. */
  listOf(paymentId: string, query?: ListPaymentRefundsQuery, options?: CallOptions): List<Refund>;
}

function createRefunds(send: Send): Refunds {
  const of = (paymentId: string) => `${at('/payments', paymentId)}/refunds`;
  return {
    create: (paymentId, body, options) => create(send, of(paymentId), body, options),
    get: (id, options) => getOne(send, '/refunds', id, options),
    cancel: (id, options) => cancel<Refund>(send, '/refunds', id, options),
    list: (query, options) => createList(send, '/refunds', query, options),
    listOf: (paymentId, query, options) => createList(send, of(paymentId), query, options),
  };
}

interface Payouts {
  /** Reserves the amount plus fees. */
  create(request: PayoutRequest, options?: CreateOptions): Promise<Payout>;
  get(id: string, options?: CallOptions): Promise<Payout>;
  list(query?: ListPayoutsQuery, options?: CallOptions): List<Payout>;
  /** Cancels a payout before it is approved. @throws InvalidStateError afterwards */
  cancel(id: string, options?: CallOptions): Promise<Payout>;
  /** Approves a payout that waits for the key of this client. A repeated call does nothing more. */
  release(id: string, options?: CallOptions): Promise<Payout>;
  /** Returns the signed record of all that was done. `verifyDossier` checks it. */
  dossier(id: string, options?: CallOptions): Promise<PayoutDossier>;
}

function createPayouts(send: Send): Payouts {
  const path = '/payouts';
  return {
    create: (body, options) => create(send, path, body, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    cancel: (id, options) => cancel<Payout>(send, path, id, options),
    release: (id, options) =>
      one(send<One<Payout>>({ method: 'POST', path: `${at(path, id)}/release`, ...options })),
    dossier: (id, options) =>
      one(send<One<PayoutDossier>>({ method: 'GET', path: `${at(path, id)}/dossier`, ...options })),
  };
}

interface PayoutBatches {
  /** Reserves the funds of all rows, or of none. @throws RowsRefusedError with every refused row */
  create(
    request: Omit<PayoutBatchRequest, 'dry_run'>,
    options?: CreateOptions,
  ): Promise<PayoutBatch>;
  /** Checks every row and stores nothing. */
  check(
    request: Omit<PayoutBatchRequest, 'dry_run'>,
    options?: CreateOptions,
  ): Promise<PayoutBatchCheck>;
  get(id: string, options?: CallOptions): Promise<PayoutBatch>;
  list(query?: ListPayoutBatchesQuery, options?: CallOptions): List<PayoutBatch>;
  /** Returns the proof of a batch: where the money of each row went. */
  proof(id: string, options?: CallOptions): Promise<PayoutBatchProof>;
  /** Returns the funds of all rows that were not released. A repeated call does nothing more. */
  stop(id: string, options?: CallOptions): Promise<PayoutBatch>;
  /** Leaves rows out before the approval, and returns their funds. @param rows numbers from 1 */
  leaveOut(id: string, rows: readonly number[], options?: CallOptions): Promise<PayoutBatch>;
}

function createPayoutBatches(send: Send): PayoutBatches {
  const path = '/payout_batches';
  return {
    create: (body, options) => create(send, path, body, options),
    check: (body, options) => create(send, path, { ...body, dry_run: true }, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    proof: (id, options) =>
      one(
        send<One<PayoutBatchProof>>({ method: 'GET', path: `${at(path, id)}/proof`, ...options }),
      ),
    stop: (id, options) =>
      one(send<One<PayoutBatch>>({ method: 'POST', path: `${at(path, id)}/stop`, ...options })),
    leaveOut: (id, rows, options) => {
      const call = { method: 'POST', path: `${at(path, id)}/leave_out`, body: { rows } } as const;
      return one(send<One<PayoutBatch>>({ ...call, ...options }));
    },
  };
}

interface PayoutSchedules {
  /** Pays the same rows at each time of a cron expression or an interval. @throws RowsRefusedError */
  create(
    request: Omit<PayoutScheduleRequest, 'dry_run'>,
    options?: CreateOptions,
  ): Promise<PayoutSchedule>;
  /** Checks every row and shows the next times, and stores nothing. */
  check(
    request: Omit<PayoutScheduleRequest, 'dry_run'>,
    options?: CreateOptions,
  ): Promise<PayoutScheduleCheck>;
  get(id: string, options?: CallOptions): Promise<PayoutSchedule>;
  list(query?: ListPayoutSchedulesQuery, options?: CallOptions): List<PayoutSchedule>;
  /** Newest first, with the batch or the reason of each. */
  runs(
    id: string,
    query?: ListPayoutSchedulesQuery,
    options?: CallOptions,
  ): List<PayoutScheduleRun>;
  /** A repeated call does nothing more, also for the next two. */
  pause(id: string, options?: CallOptions): Promise<PayoutSchedule>;
  resume(id: string, options?: CallOptions): Promise<PayoutSchedule>;
  end(id: string, options?: CallOptions): Promise<PayoutSchedule>;
}

function createPayoutSchedules(send: Send): PayoutSchedules {
  const path = '/payout_schedules';
  const change = (verb: string) => (id: string, options?: CallOptions) =>
    one(send<One<PayoutSchedule>>({ method: 'POST', path: `${at(path, id)}/${verb}`, ...options }));
  return {
    create: (body, options) => create(send, path, body, options),
    check: (body, options) => create(send, path, { ...body, dry_run: true }, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    runs: (id, query, options) => createList(send, `${at(path, id)}/runs`, query, options),
    pause: change('pause'),
    resume: change('resume'),
    end: change('end'),
  };
}

interface Recipients {
  create(request: RecipientRequest, options?: CreateOptions): Promise<Recipient>;
  get(id: string, options?: CallOptions): Promise<Recipient>;
  list(query?: ListRecipientsQuery, options?: CallOptions): List<Recipient>;
  /** Changes the fields that are named. A live recipient with a new destination waits again. */
  update(id: string, change: RecipientChange, options?: CallOptions): Promise<Recipient>;
  /** A repeated call does nothing more. */
  delete(id: string, options?: CallOptions): Promise<Recipient>;
}

function createRecipients(send: Send): Recipients {
  const path = '/recipients';
  return {
    create: (body, options) => create(send, path, body, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    update: (id, body, options) =>
      one(send<One<Recipient>>({ method: 'PATCH', path: at(path, id), body, ...options })),
    delete: (id, options) =>
      one(send<One<Recipient>>({ method: 'DELETE', path: at(path, id), ...options })),
  };
}

interface ApiKeys {
  /**
   * A key with at most the rights of the one that this client has. `secret` is in the first answer only; after
   * a lost answer it is null, and `roll` makes a new one.
   */
  create(request: ApiKeyRequest, options?: CreateOptions): Promise<ApiKeyWithSecret>;
  get(id: string, options?: CallOptions): Promise<ApiKey>;
  list(query?: ListApiKeysQuery, options?: CallOptions): List<ApiKey>;
  /** Replaces the secret of a key that was made with this client's key, or of that key. */
  roll(id: string, options?: CallOptions): Promise<ApiKeyWithSecret>;
  /** Also revokes the keys that it has made. A repeated call does nothing more. */
  revoke(id: string, options?: CallOptions): Promise<ApiKey>;
}

function createApiKeys(send: Send): ApiKeys {
  const path = '/api_keys';
  return {
    create: (body, options) => create(send, path, body, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    roll: (id, options) =>
      one(
        send<One<ApiKeyWithSecret>>({ method: 'POST', path: `${at(path, id)}/roll`, ...options }),
      ),
    revoke: (id, options) =>
      one(send<One<ApiKey>>({ method: 'POST', path: `${at(path, id)}/revoke`, ...options })),
  };
}

interface WebhookEndpoints {
  /** `secret` is in the first answer only; after a lost answer it is null, and `roll` makes a new one. */
  create(
    request: WebhookEndpointRequest,
    options?: CreateOptions,
  ): Promise<WebhookEndpointWithSecret>;
  get(id: string, options?: CallOptions): Promise<WebhookEndpoint>;
  list(query?: ListWebhookEndpointsQuery, options?: CallOptions): List<WebhookEndpoint>;
  /** Changes the fields that are named. */
  update(
    id: string,
    change: WebhookEndpointChange,
    options?: CallOptions,
  ): Promise<WebhookEndpoint>;
  /** A repeated call does nothing more. */
  delete(id: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Replaces the secret. The answer to the last call has the one that signs. */
  roll(id: string, options?: CallOptions): Promise<WebhookEndpointWithSecret>;
  /** Sends a test event once. */
  ping(id: string, options?: CallOptions): Promise<WebhookPing>;
  deliveries(
    id: string,
    query?: ListWebhookDeliveriesQuery,
    options?: CallOptions,
  ): List<WebhookDelivery>;
}

function createWebhookEndpoints(send: Send): WebhookEndpoints {
  const path = '/webhook_endpoints';
  return {
    create: (body, options) => create(send, path, body, options),
    get: (id, options) => getOne(send, path, id, options),
    list: (query, options) => createList(send, path, query, options),
    update: (id, body, options) =>
      one(send<One<WebhookEndpoint>>({ method: 'PATCH', path: at(path, id), body, ...options })),
    delete: (id, options) =>
      one(send<One<WebhookEndpoint>>({ method: 'DELETE', path: at(path, id), ...options })),
    roll: (id, options) => {
      const call = { method: 'POST', path: `${at(path, id)}/roll` } as const;
      return one(send<One<WebhookEndpointWithSecret>>({ ...call, ...options }));
    },
    ping: (id, options) =>
      one(send<One<WebhookPing>>({ method: 'POST', path: `${at(path, id)}/ping`, ...options })),
    deliveries: (id, query, options) =>
      createList(send, `${at(path, id)}/deliveries`, query, options),
  };
}

interface WebhookDeliveries {
  get(id: string, options?: CallOptions): Promise<WebhookDeliveryWithAttempts>;
  /** One attempt at once, whatever the status. */
  resend(id: string, options?: CallOptions): Promise<WebhookDelivery>;
}

function createWebhookDeliveries(send: Send): WebhookDeliveries {
  const path = '/webhook_deliveries';
  return {
    get: (id, options) => getOne(send, path, id, options),
    resend: (id, options) =>
      one(
        send<One<WebhookDelivery>>({ method: 'POST', path: `${at(path, id)}/resend`, ...options }),
      ),
  };
}

interface Fees {
  /** The rule in force for each provider, direction and currency. */
  list(options?: CallOptions): Promise<FeeRule[]>;
  quote(query: QuoteFeeQuery, options?: CallOptions): Promise<FeeQuote>;
}

function createFees(send: Send): Fees {
  return {
    list: (options) => one(send<One<FeeRule[]>>({ method: 'GET', path: '/fees', ...options })),
    quote: (query, options) =>
      send<FeeQuote>({ method: 'GET', path: '/fees/quote', query, ...options }),
  };
}

function create<Created>(send: Send, path: string, body: object, options: CreateOptions = {}) {
  const { idempotencyKey = newIdempotencyKey(), ...callOptions } = options;
  return one(send<One<Created>>({ method: 'POST', path, body, idempotencyKey, ...callOptions }));
}
