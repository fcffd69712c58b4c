/** The envelopes and codes of Exchange Pay's answers. */
import type { Context } from 'koa';

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
