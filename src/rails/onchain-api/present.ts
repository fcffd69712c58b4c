/** Transfers and checkouts in the form of docs/onchain-provider.md, for answers and callbacks. */
import type { Amount } from '../../domain/money';

export interface TransferView {
  id: string;
  reference: string;
  status: 'queued' | 'confirmed' | 'failed';
  amount: string;
  asset: string;
  network: string | null;
  destination: string;
  memo: string | null;
  txHash: string | null;
  failureCode: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export function presentTransfer(transfer: TransferView): Record<string, unknown> {
  return {
    object: 'transfer',
    id: transfer.id,
    client_reference: transfer.reference,
    status: transfer.status,
    amount: transfer.amount,
    asset: transfer.asset,
    network: transfer.network,
    destination: { address: transfer.destination, memo: transfer.memo },
    tx_hash: transfer.txHash,
    failure_code: transfer.failureCode,
    created_at: transfer.createdAt.toISOString(),
    updated_at: transfer.updatedAt.toISOString(),
  };
}

/** A condition of the provider that a person must look at, while it lasts. */
export interface AlarmView {
  /** An alarm that ends and comes back has another id. */
  id: string;
  kind: string;
  network: string;
  subject: string;
  detail: string;
  raisedAt: Date;
}

/** The gateway reads no longer text. */
const ALARM_TEXT_MAX = 200;

export function presentAlarm(alarm: AlarmView): Record<string, unknown> {
  return {
    object: 'alarm',
    id: alarm.id,
    kind: alarm.kind,
    network: alarm.network,
    subject: alarm.subject.slice(0, ALARM_TEXT_MAX),
    detail: alarm.detail.slice(0, ALARM_TEXT_MAX),
    raised_at: alarm.raisedAt.toISOString(),
  };
}

/** What an address that pays transfers has of one asset. */
export interface WalletView {
  network: string;
  address: string;
  asset: string;
  balance: string;
  /** Below it the balance is low; null if there is no such mark. */
  minimum: string | null;
  /** Whether the asset also pays the network's fees. */
  paysFees: boolean;
}

export function presentWallet({ paysFees, ...wallet }: WalletView): Record<string, unknown> {
  return { object: 'wallet', ...wallet, pays_fees: paysFees };
}

export interface UnknownTransactionView {
  network: string;
  txHash: string;
}

export function presentUnknownTransaction({
  network,
  txHash,
}: UnknownTransactionView): Record<string, unknown> {
  return { object: 'unknown_transaction', network, tx_hash: txHash };
}

export interface DepositView {
  id: string;
  amount: string;
  state: 'detected' | 'final' | 'vanished';
  seenAt: Date;
  finalAt: Date | null;
  txHash: string | null;
}

export interface RefundView {
  id: string;
  reference: string;
  amount: Amount;
  /** `needs_address`: the customer has not said where to, or the last address could not be paid. */
  state: 'needs_address' | 'sending' | 'sent';
  refundedAt: Date | null;
  address: string | null;
  txHash: string | null;
}

export interface CheckoutView {
  /** Also the secret part of the hosted page's address. */
  id: string;
  reference: string;
  url: string;
  /** `customer_active`: the customer has begun to pay, whatever became of it. */
  state: 'open' | 'customer_active' | 'cancelled' | 'failed';
  isHeld: boolean;
  amount: Amount;
  asset: string;
  /** Null inside an exchange, which serves its page as an on-chain provider does. */
  network: string | null;
  /** An address on the network, or a payment code of the exchange. */
  address: string;
  memo: string | null;
  deposits: readonly DepositView[];
  refunds: readonly RefundView[];
  failureCode: string | null;
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

export function presentCheckout(checkout: CheckoutView): Record<string, unknown> {
  return {
    object: 'checkout',
    id: `och_${checkout.id}`,
    client_reference: checkout.reference,
    url: checkout.url,
    state: checkout.state,
    compliance: checkout.isHeld ? 'held' : 'clear',
    amount: checkout.amount,
    asset: checkout.asset,
    network: checkout.network,
    deposit_address: { address: checkout.address, memo: checkout.memo },
    deposits: checkout.deposits.map((deposit) => ({
      id: deposit.id,
      amount: deposit.amount,
      state: deposit.state,
      detected_at: deposit.seenAt.toISOString(),
      final_at: deposit.finalAt?.toISOString() ?? null,
      tx_hash: deposit.txHash,
    })),
    // A refund whose transfer is not final on the chain is not a refund yet.
    refunds: checkout.refunds.flatMap(({ id, reference, amount, refundedAt }) =>
      refundedAt === null
        ? []
        : [{ id, refund_reference: reference, amount, refunded_at: refundedAt.toISOString() }],
    ),
    pending_refunds: checkout.refunds
      .filter(({ state }) => state !== 'sent')
      .map(({ id, reference, amount, state }) => ({
        id,
        refund_reference: reference,
        amount,
        state,
      })),
    failure_code: checkout.failureCode,
    expires_at: checkout.expiresAt.toISOString(),
    created_at: checkout.createdAt.toISOString(),
    updated_at: checkout.updatedAt.toISOString(),
  };
}
