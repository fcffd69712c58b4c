/** The readers of bodies with many rows, by the name that crosses to the thread. */
import { readPayoutBatchRequest } from '../../../features/payout-batches/payout-batches-contract';
import { readPayoutScheduleRequest } from '../../../features/payout-schedules/payout-schedules-contract';
import { readReconciliationRequest } from '../../../features/books/reconciliations-contract';

export const READERS = {
  payoutBatch: readPayoutBatchRequest,
  payoutSchedule: readPayoutScheduleRequest,
  reconciliation: readReconciliationRequest,
};

export type Readers = typeof READERS;
