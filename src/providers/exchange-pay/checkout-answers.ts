/** Reads Exchange Pay's orders, which are our checkouts: its words in, the port's types out. */
import {
  lookUp,
  readAmount,
  readFlag,
  readMoneyList,
  readOrNull,
  readText,
  readTextOrNull,
  readUnixTimeMs,
  readWebAddress,
} from '../answer-members';
import type { Checkout, CheckoutRefund, ReceivedTransfer } from '../port';
import { readFailureCode } from './answers';

export const ORDER_NOT_FOUND_CODE = '400302';

/** The codes that promise that nothing was changed. No other code is a refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  '400311': 'The provider does not take this currency.',
  '400312': 'The provider does not hold this payment.',
  '400313': 'The provider refunds no more than what came and has not gone back.',
};

const STATES: Readonly<Record<string, Checkout['state']>> = {
  INITIAL: 'open',
  PAYING: 'started',
  CLOSED: 'cancelled',
  ERROR: 'failed',
};

const PAYMENT_STATES: Readonly<Record<string, ReceivedTransfer['status']>> = {
  PENDING: 'seen',
  SUCCESS: 'confirmed',
  VOID: 'dropped',
};

const FAILURES: Readonly<Record<string, string>> = {
  COMPLIANCE_REJECTED: 'The provider rejected the payment for compliance reasons.',
};
const OTHER_FAILURE = 'The provider could not carry out the payment.';

/** Undefined when the data is not an order in the form that the provider documents. */
export function readExchangePayOrder(data: unknown): Checkout | undefined {
  const providerId = readText(data, 'orderId');
  const reference = readText(data, 'merchantOrderId');
  const checkoutUrl = readWebAddress(data, 'checkoutUrl');
  const amount = readAmount(data, 'orderAmount');
  const currency = readText(data, 'currency');
  const state = lookUp(STATES, readText(data, 'orderStatus'));
  const onHold = readFlag(data, 'riskHold');
  const transfers = readMoneyList(data, 'payments', readPayment);
  const refunds = readMoneyList(data, 'refunds', readRefund);
  if (providerId === undefined || reference === undefined || checkoutUrl === undefined) {
    return undefined;
  }
  if (amount === undefined || currency === undefined || state === undefined) return undefined;
  if (onHold === undefined || transfers === undefined || refunds === undefined) return undefined;
  const failCode = readTextOrNull(data, 'failCode') ?? undefined;
  const failureReason = state === 'failed' ? (lookUp(FAILURES, failCode) ?? OTHER_FAILURE) : null;
  return {
    providerId,
    reference,
    checkoutUrl,
    amount,
    currency,
    network: null,
    state,
    onHold,
    transfers,
    refunds,
    failureReason,
  };
}

function readPayment(entry: unknown): ReceivedTransfer | undefined {
  const id = readText(entry, 'paymentId');
  const amount = readAmount(entry, 'payAmount');
  const status = lookUp(PAYMENT_STATES, readText(entry, 'payStatus'));
  const seenAt = readUnixTimeMs(entry, 'createTime');
  const confirmedAt = readOrNull(entry, 'successTime', readUnixTimeMs);
  if (id === undefined || amount === undefined || status === undefined) return undefined;
  if (seenAt === undefined || confirmedAt === undefined) return undefined;
  // Money counts by the time of its confirmation: without one it cannot be called confirmed.
  if ((status === 'confirmed') !== (confirmedAt !== null)) return undefined;
  return { id, amount, status, seenAt, confirmedAt, txHash: null };
}

function readRefund(entry: unknown): CheckoutRefund | undefined {
  const id = readText(entry, 'refundId');
  const amount = readAmount(entry, 'refundAmount');
  const reference = readText(entry, 'merchantRefundId');
  const refundedAt = readUnixTimeMs(entry, 'refundTime');
  if (id === undefined || reference === undefined) return undefined;
  if (amount === undefined || refundedAt === undefined) return undefined;
  return { id, reference, amount, refundedAt };
}

/** A sentence for the merchant, or undefined when the answer is no definite refusal. */
export function readOrderRefusal(status: number, body: unknown): string | undefined {
  return lookUp(REFUSALS, readFailureCode(status, body));
}
