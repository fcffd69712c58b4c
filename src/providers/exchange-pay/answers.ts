/**
 * Reads Exchange Pay's envelopes `{status, code, data, errorMessage}`. An answer counts only when
 * HTTP status, envelope status and code say the same thing.
 */
import { lookUp, readAmount, readMember, readText, readTextOrNull } from '../answer-members';
import type { ProviderTransfer } from '../port';

const SUCCESS_CODE = '000000';
/** Of a transfer, an order and a refund. */
export const REFERENCE_CONFLICT_CODES: readonly string[] = ['400201', '400301', '400303'];
export const TRANSFER_NOT_FOUND_CODE = '400202';

/** The codes that promise that nothing was and will be sent. No other code is a refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  '400101': 'The recipient cannot receive transfers.',
  '400102': 'The provider does not pay to this type of recipient.',
  '400103': 'The provider does not pay out this currency.',
  '400104': 'The provider says that the recipient is not valid.',
};

const FAILURES: Readonly<Record<string, string>> = {
  DESTINATION_UNREACHABLE: 'The transfer could not be delivered to the recipient.',
};
const OTHER_FAILURE = 'The provider could not send the transfer.';

const STATUSES: Readonly<Record<string, ProviderTransfer['status']>> = {
  PROCESSING: 'pending',
  SUCCESS: 'sent',
  FAILED: 'failed',
};

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

/** A sentence for the merchant, or undefined when the answer is no definite refusal. */
export function readExchangePayRefusal(status: number, body: unknown): string | undefined {
  return lookUp(REFUSALS, readFailureCode(status, body));
}

/** Undefined when the data is not a transfer in the form that the provider documents. */
export function readExchangePayTransfer(data: unknown): ProviderTransfer | undefined {
  const providerId = readText(data, 'transferId');
  const reference = readText(data, 'merchantTransferId');
  const status = lookUp(STATUSES, readText(data, 'transferStatus'));
  const amount = readAmount(data, 'transferAmount');
  const currency = readText(data, 'currency');
  if (providerId === undefined || reference === undefined || status === undefined) return undefined;
  if (amount === undefined || currency === undefined) return undefined;
  const failCode = readTextOrNull(data, 'failCode') ?? undefined;
  const failureReason = status === 'failed' ? (lookUp(FAILURES, failCode) ?? OTHER_FAILURE) : null;
  return { providerId, reference, status, amount, currency, txHash: null, failureReason };
}
