/** How the on-chain provider shows a transfer, in its answers and in its callbacks. */
import type { Transfer } from '../book';

const STATUSES = { pending: 'queued', sent: 'confirmed', failed: 'failed', refused: 'failed' };

export function presentOnchainTransfer(transfer: Transfer): Record<string, unknown> {
  return {
    object: 'transfer',
    id: `otr_${transfer.id}`,
    client_reference: transfer.reference,
    status: STATUSES[transfer.status],
    amount: transfer.amount,
    asset: transfer.currency,
    network: transfer.network,
    destination: { address: transfer.destination, memo: transfer.memo },
    tx_hash: transfer.txHash,
    failure_code: transfer.failureCode,
    created_at: transfer.createdAt,
    updated_at: transfer.updatedAt,
  };
}
