/** Exchange Pay's callback about a transfer, which stands as JSON text inside the JSON body. */
import type { Transfer } from '../book';
import type { CallbackRequest } from '../callback-delivery';
import { presentExchangePayTransfer } from './presenter';
import { signExchangePayCallback } from './sign';

export function buildExchangePayCallback(transfer: Transfer, secret: string): CallbackRequest {
  const shown = presentExchangePayTransfer(transfer);
  const body = JSON.stringify({
    bizType: 'PAYOUT',
    bizId: `${String(shown.transferId)}-${transfer.status}`,
    bizStatus: shown.transferStatus,
    data: JSON.stringify(shown),
  });
  return signExchangePayCallback(body, secret);
}
