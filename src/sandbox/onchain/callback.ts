/** The on-chain provider's callback about a transfer. */
import type { Transfer } from '../book';
import type { CallbackRequest } from '../callback-delivery';
import { presentOnchainTransfer } from './presenter';
import { signOnchainCallback } from './sign';

export function buildOnchainCallback(transfer: Transfer, secret: string): CallbackRequest {
  const body = JSON.stringify({
    // The same event when it is sent again, so that a receiver can tell a repetition.
    id: `oev_${transfer.id}_${transfer.status}`,
    type: 'transfer.updated',
    data: presentOnchainTransfer(transfer),
  });
  return signOnchainCallback(body, secret);
}
