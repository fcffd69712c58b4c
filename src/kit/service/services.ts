/** The services behind the HTTP API, one interface per noun, and what they share. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FeeQuote, FeeQuoteRequest, FeeRule } from '../../domain/fees';
import type { MerchantTransaction, TransactionFilters } from '../../domain/ledger';
import type { Reconciliation, ReconciliationRequest } from '../../domain/merchant-reconciliation';
import type { Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { Payment, PaymentRequest } from '../../domain/payment';
import type { Beneficiary } from '../../domain/beneficiary';
import type { Payout, SentPayoutOrder } from '../../domain/payout';
import type { ReviewReason } from '../../domain/review';
import type { Scope } from '../../domain/scopes';
import type { PayoutDossier } from '../../features/payouts/payout-dossiers-contract';
import type { PaymentFilters } from '../../db/payments/payment-list';
import type { PayoutFilters } from '../../db/payouts/payout-list';
import type { EventListFilters } from '../../db/webhooks/event-list';
import type { EventFilters, FeedPosition } from '../../db/webhooks/events-feed';
import type { CatalogueRoute } from '../../db/accounts/currency-routes';
import type { Balance } from '../../db/ledger/ledger';
import type { Provider } from '../../adapters/providers/registry';
import type { ExportFile, ExportRequest } from '../../features/books/exports';
import type {} from './own';

/** An accepted API key or a signed-in user. Data is scoped to the account and mode. */
export interface Caller extends Owner {
  /** `key_…`, or the user's id, `usr_…`, for a request from the dashboard. */
  apiKeyId: string;
  scopes: readonly Scope[];
}

/** The caller's use of its one-minute window (decisions/api#rate-limit). */
export interface RateWindow {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export interface Authentication {
  /**
   * Checks a key, counts the request and records the last use, in one round trip to the database.
   * @param authorization the request's Authorization header, empty without one
   * @param address the client's address (decisions/api#client-address)
   * @throws ApiError authentication_required, invalid_api_key, account_suspended, ip_not_allowed;
   *   above the rate limit it does not throw, see `exceeded`
   */
  authenticate(authorization: string, address: string): Promise<Authenticated>;
}

export interface Authenticated {
  caller: Caller;
  rate: RateWindow;
  /** Whether the limit is exceeded: then respond 429 with the rate headers and run nothing. */
  exceeded: boolean;
}

/** A position in a list ordered by (created_at, id) descending; the time has microseconds. */
export interface ListPosition {
  createdAt: string;
  id: string;
}

export interface Page<T> {
  items: T[];
  /** Null on the last page. */
  next: ListPosition | null;
}

/** The exact bytes of the response, so that a replay cannot differ from the first. */
export interface StoredResponse {
  status: number;
  body: Buffer;
  replayed: boolean;
}

/** What a payout would cost now, and whether it would need an approval. */
export interface PayoutQuote {
  provider: string;
  network: string | null;
  serviceFee: Amount;
  networkFee: Amount;
  totalDebit: Amount;
  availableAfter: Amount;
  /** Empty if no operator has to approve it. */
  reviewReasons: readonly ReviewReason[];
  /** Whether another person of the account has to approve it. */
  needsSecondPerson: boolean;
}

export interface Payouts {
  /** Prices the payout and reserves nothing. @throws ApiError as `create` */
  quote(caller: Caller, request: SentPayoutOrder): Promise<PayoutQuote>;
  /** @throws ApiError every error case of the specification's "POST /payouts" */
  create(
    caller: Caller,
    input: { idempotencyKey: string; request: SentPayoutOrder },
  ): Promise<StoredResponse>;
  list(
    caller: Caller,
    query: { limit: number; after: ListPosition | null; filters: PayoutFilters },
  ): Promise<Page<Payout>>;
  /** @throws ApiError not_found */
  get(caller: Caller, id: string): Promise<Payout>;
  /** Null if it was erased; undefined if the payout has none, or the caller may not see it. */
  beneficiaryOf(caller: Caller, payout: Payout): Beneficiary | null | undefined;
  /** @throws ApiError not_found */
  dossier(caller: Caller, id: string): Promise<PayoutDossier>;
  /** Tells the payout's workflow that a condition may be met; without an answer, `restart-missing` does. */
  lookAgain(caller: Caller, id: string): Promise<void>;
  /** @throws ApiError not_found, invalid_state, service_unavailable */
  cancel(caller: Caller, id: string): Promise<Payout>;
  /** @throws ApiError not_found, invalid_state, release_not_allowed, service_unavailable */
  release(caller: Caller, id: string): Promise<Payout>;
}

export interface Payments {
  /** Makes the checks of `create` alone. @throws ApiError validation_failed, duplicate_reference */
  check(caller: Caller, request: PaymentRequest): Promise<void>;
  /** @throws ApiError validation_failed, duplicate_reference, service_unavailable, idempotency's */
  create(
    caller: Caller,
    input: { idempotencyKey: string; request: PaymentRequest },
  ): Promise<StoredResponse>;
  list(
    caller: Caller,
    query: { limit: number; after: ListPosition | null; filters: PaymentFilters },
  ): Promise<Page<Payment>>;
  /** @throws ApiError not_found */
  get(caller: Caller, id: string): Promise<Payment>;
  /** @throws ApiError not_found, rate_limited, service_unavailable */
  verify(caller: Caller, id: string): Promise<Payment>;
  /** Closes the checkout. @throws ApiError not_found, invalid_state, service_unavailable */
  cancel(caller: Caller, id: string): Promise<Payment>;
}

export interface Balances {
  list(caller: Caller): Promise<Balance[]>;
  transactions(
    caller: Caller,
    query: { limit: number; after: ListPosition | null; filters: TransactionFilters },
  ): Promise<Page<MerchantTransaction>>;
  /** @throws ApiError not_found */
  transaction(caller: Caller, id: string): Promise<MerchantTransaction>;
  exportFile(caller: Caller, request: Omit<ExportRequest, keyof Owner>): Promise<ExportFile>;
  reconcile(caller: Caller, request: ReconciliationRequest): Promise<Reconciliation>;
}

/** A merchant's request to the feed. */
export interface FeedRequest {
  limit: number;
  filters: EventFilters;
  /** Where to start: a position of an earlier page, an event's id, now, or the oldest event. */
  start: FeedPosition | { eventId: string } | 'latest' | 'oldest';
  /** How long to wait for an event if there is none. */
  waitSeconds: number;
}

export interface FeedPage {
  /** The bodies, as they are sent to webhook endpoints. */
  bodies: Buffer[];
  next: FeedPosition;
}

export interface Events {
  /** Newest first. */
  list(
    caller: Caller,
    query: { limit: number; after: ListPosition | null; filters: EventListFilters },
  ): Promise<Page<{ body: Buffer }>>;
  /** @throws ApiError not_found; cursor_expired when its body was deleted */
  get(caller: Caller, id: string): Promise<Buffer>;
  /**
   * Oldest first, from a point on.
   * @param signal of a caller that is gone
   * @throws ApiError cursor_expired; validation_failed for an unknown event
   */
  feed(caller: Caller, query: FeedRequest, signal: AbortSignal): Promise<FeedPage>;
  /** Answers the requests that wait, also those to come: the process ends. */
  stopWaiting(): void;
}

export interface Catalogue {
  /** The rule in force for each enabled provider, direction and currency. */
  feeRules(caller: Caller): Promise<FeeRule[]>;
  /** @throws ApiError validation_failed when the provider does not support the currency */
  quoteFee(caller: Caller, request: FeeQuoteRequest): Promise<FeeQuote>;
  currencies(
    caller: Caller,
  ): Promise<{ providers: readonly Provider[]; routes: readonly CatalogueRoute[] }>;
}

export interface ProviderCallbacks {
  /**
   * Receives a provider's callback. It is only a hint: it wakes the workflow, which reads the
   * state.
   * @throws ApiError not_found for an unknown provider or mode, invalid_signature,
   *   service_unavailable
   */
  receive(
    provider: string,
    mode: string,
    headers: IncomingHttpHeaders,
    rawBody: Buffer,
  ): Promise<void>;
}

export interface Health {
  check(): Promise<Readiness>;
  /**
   * Whether load balancers send requests to this process: from the first time that it was ready until it
   * stops. An outage of PostgreSQL or Temporal concerns every process alike, and each answers what it can.
   */
  isServing(): boolean;
  /** Checks every few seconds, and logs when a part fails or works again, until drain(). */
  watch(): void;
  /** From now on the process is neither ready nor serving. */
  drain(): void;
}

export interface Readiness {
  ready: boolean;
  /** Each component → `ok`, or the problem. */
  parts: Record<string, string>;
}
