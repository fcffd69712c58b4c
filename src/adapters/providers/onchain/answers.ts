/**
 * Reads the on-chain provider's answers into the port's types: transfers, checkouts, refusals, and
 * answers that decide nothing.
 */
import type { ProviderWallet } from '../../../domain/provider-wallet';
import {
  lookUp,
  readAmount,
  readFlag,
  readIsoTime,
  readMember,
  readMoneyList,
  readOrNull,
  readText,
  readTextOrNull,
  readWebUrl,
} from '../answer-reader';
import type {
  Checkout,
  CheckoutRefund,
  CheckoutRefusal,
  ProviderAlarm,
  ProviderTransfer,
  ReceivedTransfer,
  Unknown,
} from '../port';
import { statusSentence } from '../provider-http';

const TRANSFER_STATUSES: Readonly<Record<string, ProviderTransfer['status']>> = {
  queued: 'pending',
  confirmed: 'sent',
  failed: 'failed',
};

/** The answers that promise that nothing was and will be sent. No other code is a refusal. */
const TRANSFER_REFUSALS: Readonly<Record<string, string>> = {
  destination_refused: 'The provider does not send to this destination.',
  destination_invalid: 'The provider says that the destination is not valid.',
  asset_not_supported: 'The provider does not send this currency on this network.',
  amount_not_representable: 'The amount has more decimals than the currency has on this network.',
};

const TRANSFER_FAILURES: Readonly<Record<string, string>> = {
  destination_unreachable: 'The transfer could not be delivered to the destination.',
  not_transferred: 'The transaction succeeded, but the token transferred nothing.',
};
const OTHER_TRANSFER_FAILURE = 'The provider could not send the transfer.';

export function readOnchainTransfer(body: unknown): ProviderTransfer | undefined {
  return readOnchainTransferMembers(readMember(body, 'transfer'));
}

/** Undefined when it is not a transfer in the form that the provider documents. */
export function readOnchainTransferMembers(shown: unknown): ProviderTransfer | undefined {
  const providerId = readText(shown, 'id');
  const reference = readText(shown, 'client_reference');
  const status = lookUp(TRANSFER_STATUSES, readText(shown, 'status'));
  const amount = readAmount(shown, 'amount');
  const currency = readText(shown, 'asset');
  const txHash = readTextOrNull(shown, 'tx_hash');
  if (providerId === undefined || reference === undefined || status === undefined) return undefined;
  if (amount === undefined || currency === undefined || txHash === undefined) return undefined;
  const failureReason =
    status === 'failed'
      ? (lookUp(TRANSFER_FAILURES, readText(shown, 'failure_code')) ?? OTHER_TRANSFER_FAILURE)
      : null;
  return { providerId, reference, status, amount, currency, txHash, failureReason };
}

export function readOnchainAlarm(shown: unknown): ProviderAlarm | undefined {
  const id = readText(shown, 'id');
  const kind = readText(shown, 'kind');
  const network = readText(shown, 'network');
  const subject = readText(shown, 'subject');
  const detail = readText(shown, 'detail');
  const raisedAt = readIsoTime(shown, 'raised_at');
  if (id === undefined || kind === undefined || network === undefined) return undefined;
  if (subject === undefined || detail === undefined || raisedAt === undefined) return undefined;
  return { id, kind, network, subject, detail, raisedAt };
}

export function readOnchainWallet(shown: unknown): (ProviderWallet & { id: string }) | undefined {
  const network = readText(shown, 'network');
  const address = readText(shown, 'address');
  const asset = readText(shown, 'asset');
  const balance = readAmount(shown, 'balance');
  const minimum = readMember(shown, 'minimum') === null ? null : readAmount(shown, 'minimum');
  const paysFees = readFlag(shown, 'pays_fees');
  if (network === undefined || address === undefined || asset === undefined) return undefined;
  if (balance === undefined || minimum === undefined || paysFees === undefined) return undefined;
  const id = [network, address, asset].join(' ');
  return { id, network, address, asset, balance, minimum, paysFees };
}

/** A sentence for the merchant, or undefined when the answer is no definite refusal. */
export function readOnchainTransferRefusal(status: number, body: unknown): string | undefined {
  return status === 422 ? lookUp(TRANSFER_REFUSALS, readOnchainErrorCode(body)) : undefined;
}

const CHECKOUT_STATES: Readonly<Record<string, Checkout['state']>> = {
  open: 'open',
  customer_active: 'started',
  cancelled: 'cancelled',
  failed: 'failed',
};

const COMPLIANCE: Readonly<Record<string, boolean>> = { clear: false, held: true };

const DEPOSIT_STATES: Readonly<Record<string, ReceivedTransfer['status']>> = {
  detected: 'seen',
  final: 'confirmed',
  vanished: 'dropped',
};

const CHECKOUT_FAILURES: Readonly<Record<string, string>> = {
  compliance_rejected: 'The provider rejected the payment for compliance reasons.',
};
const OTHER_CHECKOUT_FAILURE = 'The provider could not carry out the payment.';

/** The answers that promise that nothing was changed. No other code is a refusal. */
const CHECKOUT_REFUSALS: Readonly<Record<string, CheckoutRefusal>> = {
  asset_not_supported: {
    reason: 'The provider does not take this currency on this network. See GET /currencies.',
    field: 'currency',
  },
  amount_not_representable: {
    reason:
      'The amount has more decimals than this currency has on this network. Send fewer decimals.',
    field: 'amount',
  },
  not_on_hold: { reason: 'The provider does not hold this payment.' },
};

export function readOnchainCheckout(body: unknown): Checkout | undefined {
  return readOnchainCheckoutMembers(readMember(body, 'checkout'));
}

/** Undefined when it is not a checkout in the form that the provider documents. */
export function readOnchainCheckoutMembers(shown: unknown): Checkout | undefined {
  const providerId = readText(shown, 'id');
  const reference = readText(shown, 'client_reference');
  const checkoutUrl = readWebUrl(shown, 'url');
  const amount = readAmount(shown, 'amount');
  const currency = readText(shown, 'asset');
  const network = readText(shown, 'network');
  const state = lookUp(CHECKOUT_STATES, readText(shown, 'state'));
  const onHold = lookUp(COMPLIANCE, readText(shown, 'compliance'));
  const transfers = readMoneyList(shown, 'deposits', readDeposit);
  const refunds = readMoneyList(shown, 'refunds', readRefund);
  if (providerId === undefined || reference === undefined || checkoutUrl === undefined) {
    return undefined;
  }
  if (amount === undefined || currency === undefined || network === undefined) return undefined;
  if (state === undefined || onHold === undefined) return undefined;
  if (transfers === undefined || refunds === undefined) return undefined;
  const failureReason =
    state === 'failed'
      ? (lookUp(CHECKOUT_FAILURES, readText(shown, 'failure_code')) ?? OTHER_CHECKOUT_FAILURE)
      : null;
  return {
    providerId,
    reference,
    checkoutUrl,
    amount,
    currency,
    network,
    state,
    onHold,
    transfers,
    refunds,
    failureReason,
    depositAddress: readText(readMember(shown, 'deposit_address'), 'address') ?? null,
  };
}

function readDeposit(entry: unknown): ReceivedTransfer | undefined {
  const id = readText(entry, 'id');
  const amount = readAmount(entry, 'amount');
  const status = lookUp(DEPOSIT_STATES, readText(entry, 'state'));
  const seenAt = readIsoTime(entry, 'detected_at');
  const confirmedAt = readOrNull(entry, 'final_at', readIsoTime);
  const txHash = readTextOrNull(entry, 'tx_hash');
  if (id === undefined || amount === undefined || status === undefined) return undefined;
  if (seenAt === undefined || confirmedAt === undefined || txHash === undefined) return undefined;
  // Money counts by the time of its confirmation: without one it cannot be called confirmed.
  if ((status === 'confirmed') !== (confirmedAt !== null)) return undefined;
  return { id, amount, status, seenAt, confirmedAt, txHash };
}

function readRefund(entry: unknown): CheckoutRefund | undefined {
  const id = readText(entry, 'id');
  const amount = readAmount(entry, 'amount');
  const reference = readText(entry, 'refund_reference');
  const refundedAt = readIsoTime(entry, 'refunded_at');
  if (id === undefined || reference === undefined) return undefined;
  if (amount === undefined || refundedAt === undefined) return undefined;
  return { id, reference, amount, refundedAt };
}

/** Undefined when the answer is no definite refusal. */
export function readOnchainCheckoutRefusal(
  status: number,
  body: unknown,
): CheckoutRefusal | undefined {
  return status === 422 ? lookUp(CHECKOUT_REFUSALS, readOnchainErrorCode(body)) : undefined;
}

export function readOnchainErrorCode(body: unknown): string | undefined {
  return readText(readMember(body, 'error'), 'code');
}

export const NOT_UNDERSTOOD: Unknown = {
  kind: 'unknown',
  reason: 'The provider answered with something other than what was asked.',
};

export function unclear(status: number, body: unknown): Unknown {
  if (status === 409 && readOnchainErrorCode(body) === 'client_reference_conflict') {
    return { kind: 'unknown', reason: 'The provider has a different order under this reference.' };
  }
  return { kind: 'unknown', reason: statusSentence(status) };
}
