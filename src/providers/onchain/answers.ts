/** Reads the on-chain provider's answers: its words in, the port's types out. */
import { lookUp, readAmount, readMember, readText, readTextOrNull } from '../answer-members';
import type { ProviderTransfer } from '../port';

const STATUSES: Readonly<Record<string, ProviderTransfer['status']>> = {
  queued: 'pending',
  confirmed: 'sent',
  failed: 'failed',
};

/** The answers that promise that nothing was and will be sent. No other code is a refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  destination_refused: 'The provider does not send to this destination.',
  destination_invalid: 'The provider says that the destination is not valid.',
  asset_not_supported: 'The provider does not send this currency on this network.',
};

const FAILURES: Readonly<Record<string, string>> = {
  destination_unreachable: 'The transfer could not be delivered to the destination.',
};
const OTHER_FAILURE = 'The provider could not send the transfer.';

export function readOnchainTransfer(body: unknown): ProviderTransfer | undefined {
  return readOnchainTransferMembers(readMember(body, 'transfer'));
}

/** Undefined when it is not a transfer in the form that the provider documents. */
export function readOnchainTransferMembers(shown: unknown): ProviderTransfer | undefined {
  const providerId = readText(shown, 'id');
  const reference = readText(shown, 'client_reference');
  const status = lookUp(STATUSES, readText(shown, 'status'));
  const amount = readAmount(shown, 'amount');
  const currency = readText(shown, 'asset');
  const txHash = readTextOrNull(shown, 'tx_hash');
  if (providerId === undefined || reference === undefined || status === undefined) return undefined;
  if (amount === undefined || currency === undefined || txHash === undefined) return undefined;
  const failureReason =
    status === 'failed'
      ? (lookUp(FAILURES, readText(shown, 'failure_code')) ?? OTHER_FAILURE)
      : null;
  return { providerId, reference, status, amount, currency, txHash, failureReason };
}

export function readOnchainErrorCode(body: unknown): string | undefined {
  return readText(readMember(body, 'error'), 'code');
}

/** A sentence for the merchant, or undefined when the answer is no definite refusal. */
export function readOnchainRefusal(status: number, body: unknown): string | undefined {
  return status === 422 ? lookUp(REFUSALS, readOnchainErrorCode(body)) : undefined;
}
