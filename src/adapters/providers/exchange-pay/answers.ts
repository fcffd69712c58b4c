/**
 * Reads Exchange Pay's envelopes `{status, code, data, errorMessage}` into the port's types:
 * transfers, orders (our checkouts), refusals, and answers that decide nothing. An answer counts
 * only when HTTP status, envelope status and code agree.
 */
import {
  lookUp,
  readAmount,
  readFlag,
  readMember,
  readMoneyList,
  readOrNull,
  readText,
  readTextOrNull,
  readUnixTimeMs,
  readWebUrl,
} from '../answer-reader';
import type {
  Checkout,
  CheckoutRefund,
  CheckoutRefusal,
  ProviderTransfer,
  ReceivedTransfer,
} from '../port';
import { statusSentence } from '../provider-http';

const SUCCESS_CODE = '000000';
/** A transfer, an order and a refund may be in these. */
const REFERENCE_CONFLICT_CODES: readonly string[] = ['400201', '400301', '400303'];
export const TRANSFER_NOT_FOUND_CODE = '400202';
export const ORDER_NOT_FOUND_CODE = '400302';

/** The data of a success; undefined for everything else. */
export function readSuccess(status: number, body: unknown): unknown {
  const isSuccess =
    status === 200 &&
    readText(body, 'status') === 'SUCCESS' &&
    readText(body, 'code') === SUCCESS_CODE;
  return isSuccess ? readMember(body, 'data') : undefined;
}

/** The code of a failure that the provider itself states; undefined for everything else. */
export function readFailureCode(status: number, body: unknown): string | undefined {
  return status === 400 && readText(body, 'status') === 'FAIL' ? readText(body, 'code') : undefined;
}

/** The codes that promise that nothing was and will be sent. No other code is a refusal. */
const TRANSFER_REFUSALS: Readonly<Record<string, string>> = {
  '400101': 'The recipient cannot receive transfers.',
  '400102': 'The provider does not pay to this type of recipient.',
  '400103': 'The provider does not pay out this currency.',
  '400104': 'The provider says that the recipient is not valid.',
};

const TRANSFER_FAILURES: Readonly<Record<string, string>> = {
  DESTINATION_UNREACHABLE: 'The transfer could not be delivered to the recipient.',
};
const OTHER_TRANSFER_FAILURE = 'The provider could not send the transfer.';

const TRANSFER_STATUSES: Readonly<Record<string, ProviderTransfer['status']>> = {
  PROCESSING: 'pending',
  SUCCESS: 'sent',
  FAILED: 'failed',
};

/** A sentence for the merchant, or undefined when the answer is no definite refusal. */
export function readTransferRefusal(status: number, body: unknown): string | undefined {
  return lookUp(TRANSFER_REFUSALS, readFailureCode(status, body));
}

/** Undefined when the data is not a transfer in the form that the provider documents. */
export function readExchangePayTransfer(data: unknown): ProviderTransfer | undefined {
  const providerId = readText(data, 'transferId');
  const reference = readText(data, 'merchantTransferId');
  const status = lookUp(TRANSFER_STATUSES, readText(data, 'transferStatus'));
  const amount = readAmount(data, 'transferAmount');
  const currency = readText(data, 'currency');
  if (providerId === undefined || reference === undefined || status === undefined) return undefined;
  if (amount === undefined || currency === undefined) return undefined;
  const failCode = readTextOrNull(data, 'failCode') ?? undefined;
  const failureReason =
    status === 'failed' ? (lookUp(TRANSFER_FAILURES, failCode) ?? OTHER_TRANSFER_FAILURE) : null;
  return { providerId, reference, status, amount, currency, txHash: null, failureReason };
}

/** The codes that promise that nothing was changed. No other code is a refusal. */
const ORDER_REFUSALS: Readonly<Record<string, CheckoutRefusal>> = {
  '400311': {
    reason: 'The provider does not take this currency. See GET /currencies.',
    field: 'currency',
  },
  '400312': { reason: 'The provider does not hold this payment.' },
  '400313': { reason: 'The provider refunds no more than what came and has not gone back.' },
  '400314': { reason: 'The provider does not make this refund.' },
};

const ORDER_STATES: Readonly<Record<string, Checkout['state']>> = {
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

const ORDER_FAILURES: Readonly<Record<string, string>> = {
  COMPLIANCE_REJECTED: 'The provider rejected the payment for compliance reasons.',
};
const OTHER_ORDER_FAILURE = 'The provider could not carry out the payment.';

/** Undefined when the data is not an order in the form that the provider documents. */
export function readExchangePayOrder(data: unknown): Checkout | undefined {
  const providerId = readText(data, 'orderId');
  const reference = readText(data, 'merchantOrderId');
  const checkoutUrl = readWebUrl(data, 'checkoutUrl');
  const amount = readAmount(data, 'orderAmount');
  const currency = readText(data, 'currency');
  const state = lookUp(ORDER_STATES, readText(data, 'orderStatus'));
  const onHold = readFlag(data, 'riskHold');
  const transfers = readMoneyList(data, 'payments', readPayment);
  const refunds = readMoneyList(data, 'refunds', readRefund);
  if (providerId === undefined || reference === undefined || checkoutUrl === undefined) {
    return undefined;
  }
  if (amount === undefined || currency === undefined || state === undefined) return undefined;
  if (onHold === undefined || transfers === undefined || refunds === undefined) return undefined;
  const failCode = readTextOrNull(data, 'failCode') ?? undefined;
  const failureReason =
    state === 'failed' ? (lookUp(ORDER_FAILURES, failCode) ?? OTHER_ORDER_FAILURE) : null;
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
    depositAddress: null,
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

/** Undefined when the answer is no definite refusal. */
export function readOrderRefusal(status: number, body: unknown): CheckoutRefusal | undefined {
  return lookUp(ORDER_REFUSALS, readFailureCode(status, body));
}

/** The reason of an answer that decides nothing. */
export function describeUnclear(status: number, body: unknown): string {
  const code = readFailureCode(status, body);
  if (code !== undefined && REFERENCE_CONFLICT_CODES.includes(code)) {
    return 'The provider has a different order under this reference.';
  }
  if (status === 200) return 'The provider answered with something other than what was asked.';
  const isCode = code !== undefined && /^[0-9]{6}$/.test(code);
  return isCode ? `${statusSentence(status)} Its code is ${code}.` : statusSentence(status);
}
