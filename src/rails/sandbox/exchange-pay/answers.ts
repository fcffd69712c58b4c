/** The formats of Exchange Pay's API: envelopes and codes, list queries, transfers and orders. */
import type { Context, Middleware } from 'koa';
import type { Static, TSchema } from 'typebox';
import { checkJson } from '../../../platform/lib/check-json';
import type { Checkout } from '../checkouts/checkout';
import { shortenAmount } from '../decimal-text';
import { type ChangesQuery, placeOf } from '../records';
import { normalizeTime, readBody, readText } from '../request';
import type { Transfer } from '../transfers/book';

/** Transfers and orders may be in these. */
export const CURRENCIES = ['USDT', 'USDC', 'BTC', 'ETH'];

export const CODES = {
  success: '000000',
  malformedRequest: '400001',
  notAuthentic: '400002',
  recipientRefused: '400101',
  recipientTypeNotSupported: '400102',
  currencyNotSupported: '400103',
  recipientNotValid: '400104',
  referenceConflict: '400201',
  transferNotFound: '400202',
  orderConflict: '400301',
  orderNotFound: '400302',
  refundConflict: '400303',
  orderCurrencyNotSupported: '400311',
  orderNotOnHold: '400312',
  refundTooLarge: '400313',
  refundRefused: '400314',
  orderRefused: '400319',
  internalError: '500000',
} as const;

export function answerSuccess(ctx: Context, data: Record<string, unknown>): void {
  ctx.status = 200;
  ctx.body = { status: 'SUCCESS', code: CODES.success, data, errorMessage: null };
}

export function answerFailure(
  ctx: Context,
  status: number,
  code: string,
  errorMessage: string,
): void {
  ctx.status = status;
  ctx.body = { status: 'FAIL', code, data: null, errorMessage };
}

/** A request whose body is not as documented. */
class Malformed extends Error {}

/** @throws Malformed, which `answerMalformed` answers */
export function checkBody<Schema extends TSchema>(ctx: Context, schema: Schema): Static<Schema> {
  return checkJson(
    schema,
    ctx.request.body,
    ({ at, rule }) => new Malformed(`${at === '' ? 'The body' : at.slice(1)} ${rule}.`),
  );
}

export const answerMalformed: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    answerFailure(ctx, 400, CODES.malformedRequest, error.message);
  }
};

const PAGE = 50;

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]+)$/;

/** `{updateTimeFrom, cursor}`, both optional; the page size is fixed. */
export async function answerList<T extends { id: string; updatedAt: string }>(
  ctx: Context,
  list: (query: ChangesQuery) => Promise<T[]>,
  present: (one: T) => Record<string, unknown>,
): Promise<void> {
  const body = readBody(ctx);
  const { updateTimeFrom } = body;
  const from = typeof updateTimeFrom === 'number' ? normalizeTime(updateTimeFrom) : null;
  const cursor = readText(body, 'cursor');
  const [, updatedAt, id] = CURSOR.exec(cursor ?? '') ?? [];
  const after = updatedAt === undefined || id === undefined ? null : { updatedAt, id };
  if (cursor !== null && after === null) {
    answerFailure(ctx, 400, CODES.malformedRequest, 'The cursor is not valid.');
    return;
  }
  const found = await list({ from, after, limit: PAGE + 1 });
  const entries = found.slice(0, PAGE);
  const last = entries.at(-1);
  const isLast = found.length <= PAGE || last === undefined;
  answerSuccess(ctx, { list: entries.map(present), cursor: isLast ? null : placeOf(last) });
}

const TRANSFER_STATUSES = {
  pending: 'PROCESSING',
  sent: 'SUCCESS',
  failed: 'FAILED',
  refused: 'FAILED',
} as const;

/** Unlike the on-chain provider, Exchange Pay writes amounts without trailing zeros. */
export function presentExchangePayTransfer(transfer: Transfer): Record<string, unknown> {
  return {
    transferId: `9${BigInt(`0x${transfer.id.slice(0, 14)}`).toString()}`,
    merchantTransferId: transfer.reference,
    transferStatus: TRANSFER_STATUSES[transfer.status],
    transferAmount: shortenAmount(transfer.amount),
    currency: transfer.currency,
    recipientType: transfer.destinationType,
    recipient: transfer.destination,
    failCode: transfer.failureCode?.toUpperCase() ?? null,
    createTime: Date.parse(transfer.createdAt),
    updateTime: Date.parse(transfer.updatedAt),
  };
}

const ORDER_STATES = {
  open: 'INITIAL',
  started: 'PAYING',
  cancelled: 'CLOSED',
  failed: 'ERROR',
} as const;

const PAYMENT_STATES = { seen: 'PENDING', confirmed: 'SUCCESS', dropped: 'VOID' } as const;

export function presentExchangePayOrder(checkout: Checkout, url: string): Record<string, unknown> {
  return {
    orderId: `8${BigInt(`0x${checkout.id.slice(0, 14)}`).toString()}`,
    merchantOrderId: checkout.reference,
    checkoutUrl: url,
    orderStatus: ORDER_STATES[checkout.state],
    riskHold: checkout.onHold,
    orderAmount: shortenAmount(checkout.amount),
    currency: checkout.currency,
    paymentCode: checkout.payTo,
    payments: checkout.transfers.map((transfer) => ({
      paymentId: transfer.id,
      payAmount: shortenAmount(transfer.amount),
      payStatus: PAYMENT_STATES[transfer.status],
      createTime: Date.parse(transfer.seenAt),
      successTime: transfer.confirmedAt === null ? null : Date.parse(transfer.confirmedAt),
    })),
    refunds: checkout.refunds.map((refund) => ({
      refundId: refund.id,
      merchantRefundId: refund.reference,
      refundAmount: shortenAmount(refund.amount),
      refundTime: Date.parse(refund.refundedAt),
    })),
    failCode: checkout.failureCode?.toUpperCase() ?? null,
    expireTime: Date.parse(checkout.expiresAt),
    createTime: Date.parse(checkout.createdAt),
    updateTime: Date.parse(checkout.updatedAt),
  };
}
