/** The readers of bodies with many rows, by the name that crosses to the thread. */
import { readPayoutBatchRequest } from '../../schemas/payout-batches';
import { readPayoutScheduleRequest } from '../../schemas/payout-schedules';
import { readReconciliationRequest } from '../../schemas/reconciliations';

export const READERS = {
  payoutBatch: readPayoutBatchRequest,
  payoutSchedule: readPayoutScheduleRequest,
  reconciliation: readReconciliationRequest,
};

export type Readers = typeof READERS;
