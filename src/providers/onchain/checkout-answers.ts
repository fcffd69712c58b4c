/** Reads the on-chain provider's checkouts: its words in, the port's types out. */
import {
  lookUp,
  readAmount,
  readIsoTime,
  readMember,
  readMoneyList,
  readOrNull,
  readText,
  readTextOrNull,
  readWebAddress,
} from '../answer-members';
import type { Checkout, CheckoutRefund, ReceivedTransfer } from '../port';
import { readOnchainErrorCode } from './answers';

const STATES: Readonly<Record<string, Checkout['state']>> = {
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

const FAILURES: Readonly<Record<string, string>> = {
  compliance_rejected: 'The provider rejected the payment for compliance reasons.',
};
const OTHER_FAILURE = 'The provider could not carry out the payment.';

/** The answers that promise that nothing was changed. No other code is a refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  asset_not_supported: 'The provider does not take this currency on this network.',
  not_on_hold: 'The provider does not hold this payment.',
  refund_too_large: 'The provider refunds no more than what came and has not gone back.',
};

export function readOnchainCheckout(body: unknown): Checkout | undefined {
  return readOnchainCheckoutMembers(readMember(body, 'checkout'));
}

/** Undefined when it is not a checkout in the form that the provider documents. */
export function readOnchainCheckoutMembers(shown: unknown): Checkout | undefined {
  const providerId = readText(shown, 'id');
  const reference = readText(shown, 'client_reference');
  const checkoutUrl = readWebAddress(shown, 'url');
  const amount = readAmount(shown, 'amount');
  const currency = readText(shown, 'asset');
  const network = readText(shown, 'network');
  const state = lookUp(STATES, readText(shown, 'state'));
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
      ? (lookUp(FAILURES, readText(shown, 'failure_code')) ?? OTHER_FAILURE)
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

/** A sentence for the merchant, or undefined when the answer is no definite refusal. */
export function readOnchainCheckoutRefusal(status: number, body: unknown): string | undefined {
  return status === 422 ? lookUp(REFUSALS, readOnchainErrorCode(body)) : undefined;
}
