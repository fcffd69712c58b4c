/**
 * The interface between the gateway and a payment provider. An adapter translates a provider's
 * HTTP API into these types; what a provider can and cannot do is data (`capabilities`), so no
 * caller depends on which provider it has.
 *
 * An adapter is bound to one mode: it holds that mode's URL, credentials and callback secret.
 */
import type { Beneficiary } from '../../domain/beneficiary';
import type { Amount } from '../../domain/money';
import type { ProviderCode } from '../../domain/provider-codes';
import type { ProviderWallet } from '../../domain/provider-wallet';
import type { Destination, DestinationType } from '../../domain/destination';

/**
 * What a provider supports (decisions/money#capabilities); the names are the wire's, because GET
 * /currencies shows them as they are.
 */
export interface ProviderCapabilities {
  pay_in: boolean;
  pay_out: boolean;
  destination_types: readonly DestinationType[];
  network_required: boolean;
  memo_supported: boolean;
  network_fee_estimate: boolean;
  tx_hash: boolean;
  refunds: boolean;
  /** The addresses that a refund needs, which a payout pays. Empty means the provider refunds to who paid. */
  refund_destination_types: readonly DestinationType[];
  partial_payments: boolean;
  checkout_ttl_seconds: number | null;
}

export interface PayoutOrder {
  /** The payout's id. The provider is idempotent by it: the same reference is never sent twice. */
  reference: string;
  amount: Amount;
  currency: string;
  network: string | null;
  destination: Destination;
  /** Who receives the money, if the request named anybody. */
  beneficiary?: Beneficiary | null;
}

export interface ProviderTransfer {
  /** The provider's own id of the transfer. */
  providerId: string;
  reference: string;
  /** `sent` and `failed` are the provider's final word; `pending` is everything before. */
  status: 'pending' | 'sent' | 'failed';
  amount: Amount;
  currency: string;
  txHash: string | null;
  /** A sentence for the merchant; set when status is `failed`. */
  failureReason: string | null;
}

/** No definite answer: time-out, 5xx, broken connection, our credentials refused. */
export interface Unknown {
  kind: 'unknown';
  reason: string;
}

/** The provider answered 429: it took nothing and changed nothing. Repeat the call later. */
export interface Limited {
  kind: 'limited';
  reason: string;
  retryAfterMs: number;
}

/**
 * - `accepted`: the provider holds the order under our reference.
 * - `refused`: definite. The provider has not sent and will not send under this reference.
 * - `limited`: this call submitted nothing. An earlier one may have.
 * - `unknown`: the payout is in doubt until `findPayout` gives a definite answer
 *   (decisions/payouts#payouts-in-doubt).
 */
export type SubmitResult =
  | { kind: 'accepted'; transfer: ProviderTransfer }
  | { kind: 'refused'; reason: string }
  | Limited
  | Unknown;

export type FindResult =
  { kind: 'found'; transfer: ProviderTransfer } | { kind: 'not_found' } | Limited | Unknown;

/** `decimals`: how many an amount of the currency can have on the network; null if not stated. */
export type FeeEstimate =
  { kind: 'estimate'; fee: Amount; decimals: number | null } | Limited | Unknown;

export interface CheckoutOrder {
  /** The payment's id. The provider is idempotent by it: the same reference is one checkout. */
  reference: string;
  amount: Amount;
  currency: string;
  network: string | null;
  expiresAt: Date;
  successUrl: string | null;
  cancelUrl: string | null;
  description: string | null;
  /** The name of the account, for the provider's page. */
  merchantName?: string;
  /** The address of the account's logo, for the provider's page. */
  merchantLogoUrl?: string;
  /** Test mode only: plays this scenario by itself; null otherwise. */
  scenario: string | null;
}

/** A transfer that the provider saw for a checkout. `dropped`: it vanished before it was confirmed. */
export interface ReceivedTransfer {
  id: string;
  amount: Amount;
  status: 'seen' | 'confirmed' | 'dropped';
  seenAt: Date;
  confirmedAt: Date | null;
  txHash: string | null;
}

export interface CheckoutRefund {
  id: string;
  /** Our reference if we asked for the refund, otherwise the provider's own. */
  reference: string;
  amount: Amount;
  refundedAt: Date;
}

/** The facts that the provider has about a checkout; the gateway derives the status from them. */
export interface Checkout {
  providerId: string;
  reference: string;
  checkoutUrl: string;
  amount: Amount;
  currency: string;
  network: string | null;
  /**
   * open: not started; started: the customer chose to pay; cancelled by the customer; failed at the
   * provider.
   */
  state: 'open' | 'started' | 'cancelled' | 'failed';
  /** Whether the provider holds the checkout for compliance. */
  onHold: boolean;
  transfers: ReceivedTransfer[];
  refunds: CheckoutRefund[];
  failureReason: string | null;
  /** The address that the customer pays to; null within an exchange. */
  depositAddress: string | null;
}

export interface CheckoutRefusal {
  /** A sentence for the merchant, with the remedy where there is one. */
  reason: string;
  /** The part of the order that the provider does not take. */
  field?: 'amount' | 'currency';
}

/**
 * - `found`: the checkout as the provider holds it after the call.
 * - `refused`: definite; nothing changed.
 * - `unknown`: anything else; only another call can tell what happened.
 */
export type CheckoutResult =
  | { kind: 'found'; checkout: Checkout }
  | ({ kind: 'refused' } & CheckoutRefusal)
  | { kind: 'not_found' }
  | Limited
  | Unknown;

export interface StatementQuery {
  /** A time of the provider's clock; null means from the beginning. */
  changedFrom: Date | null;
  /** The cursor of the page before; null for the first page. */
  cursor: string | null;
}

/** A page of what a provider has on record in one mode, the oldest change first. */
export type StatementPage<Entry> =
  | {
      kind: 'page';
      entries: { changedAt: Date; entry: Entry }[];
      /** The time by the provider's clock before which every change has been listed; null if nothing has been. */
      changedUntil: Date | null;
      cursor: string | null;
    }
  | Limited
  | Unknown;

/** A condition at the provider that somebody must look at, while it lasts. */
export interface ProviderAlarm {
  /** The provider's id of the alarm. An alarm that ends and comes back has another one. */
  id: string;
  /** The provider's word, such as `signer_stopped`. */
  kind: string;
  network: string;
  subject: string;
  detail: string;
  raisedAt: Date;
}

/**
 * All alarms that are open now.
 * @property isSilent whether the alarm is of a program that does not answer, so that it may still be open
 */
export type AlarmsResult =
  | { kind: 'alarms'; alarms: ProviderAlarm[]; isSilent?: (alarmId: string) => boolean }
  | Limited
  | Unknown;

export type WalletsResult = { kind: 'wallets'; wallets: ProviderWallet[] } | Limited | Unknown;

/** Hashes of transactions that belong to no order of the provider, oldest first; not all of very many. */
export type UnknownTransactionsResult =
  { kind: 'transactions'; hashes: string[] } | Limited | Unknown;

/**
 * What an authentic callback is about. Only a hint: the state is read from the provider. `other`:
 * an object that the gateway does not handle, such as a kind that the provider added later.
 */
export type CallbackHint =
  { object: 'payout' | 'payment'; reference: string } | { object: 'other' };

export interface Provider {
  readonly code: ProviderCode;
  readonly name: string;
  readonly capabilities: ProviderCapabilities;
  /** The fee in the payout's own currency. Only asked where `network_fee_estimate` is true. */
  estimateNetworkFee(currency: string, network: string): Promise<FeeEstimate>;
  /** Never throws for what a provider or a network does; never retries by itself. */
  submitPayout(order: PayoutOrder): Promise<SubmitResult>;
  /** @param network where the order is, if it is known: a provider of several programs asks that of the network first */
  findPayout(reference: string, network?: string | null): Promise<FindResult>;
  /** Idempotent by the reference; never `not_found`. */
  openCheckout(order: CheckoutOrder): Promise<CheckoutResult>;
  findCheckout(reference: string, network?: string | null): Promise<CheckoutResult>;
  /** Stops accepting money as far as the provider can, and returns the state. */
  cancelCheckout(reference: string, network?: string | null): Promise<CheckoutResult>;
  /** The operator's decision on a compliance hold; `reject` refunds what was received. */
  releaseHold(
    reference: string,
    decision: 'release' | 'reject',
    network?: string | null,
  ): Promise<CheckoutResult>;
  /**
   * Sends money back to who paid, idempotent by `refundReference`. Only asked where `refunds` is true and
   * `refund_destination_types` is empty.
   */
  refundCheckout(
    reference: string,
    refundReference: string,
    amount: Amount,
    network?: string | null,
  ): Promise<CheckoutResult>;
  /** The provider's statements, for the reconciliation: also objects that are unknown to us. */
  listPayouts(query: StatementQuery): Promise<StatementPage<ProviderTransfer>>;
  listCheckouts(query: StatementQuery): Promise<StatementPage<Checkout>>;
  /** No alarms from a provider that has none. */
  listAlarms(): Promise<AlarmsResult>;
  /** No balances from a provider that does not report them. */
  listWallets(): Promise<WalletsResult>;
  /**
   * Payments from the provider's own addresses that it cannot explain, as after the restore of an older
   * database. None from a provider that cannot have any.
   */
  listUnknownTransactions(): Promise<UnknownTransactionsResult>;
  /**
   * Tells the provider that such a transaction has paid this order. Nothing is sent.
   * @returns `not_found` when no unknown transaction with this hash pays the order
   */
  claimTransaction(order: PayoutOrder, txHash: string): Promise<FindResult>;
  /** Null when the signature or its age is wrong. Constant-time comparison. */
  readCallback(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    rawBody: Buffer,
  ): CallbackHint | null;
}

export interface ProviderModeConfig extends ProgramConfig {
  /** It covers a whole call: connecting, sending, waiting and reading. */
  timeoutMs: number;
  /** The programs that serve networks of their own. Absent: the program above serves all. */
  programs?: readonly NetworkProgram[];
}

/** A program that serves some networks in place of the others' one. */
export interface NetworkProgram extends ProgramConfig {
  networks: readonly string[];
}

interface ProgramConfig {
  /** It has no slash at the end and stops where the provider's versioned paths begin. */
  baseUrl: string;
  apiKey: string;
  callbackSecret: string;
}
