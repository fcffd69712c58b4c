/** The payouts of an account, the newest first. */
import { type Payout, payoutStatusGroup, type PayoutStatus } from '../../domain/payout';
import {
  commonConditions,
  type CommonFilters,
  type ListPage,
  type ListQuery,
  newestFirst,
  oneOf,
} from '../lists';
import type { ReadRows } from '../models';
import type { Reader } from '../transaction';
import { CONDITIONS } from './payout-conditions';

export interface PayoutFilters extends CommonFilters<PayoutStatus> {
  batch?: string;
  recipient?: string;
}

const PAYOUTS: ReadRows<Payout> = { tableName: 'payouts', read: `*, ${CONDITIONS}` };

export function listPayouts(
  db: Reader,
  query: ListQuery<PayoutFilters>,
): Promise<ListPage<Payout>> {
  const { status, batch, recipient } = query.filters;
  // The index contains the group in place of the status.
  const groups = status && [...new Set(status.map(payoutStatusGroup))];
  return newestFirst(db, PAYOUTS, query, [
    ...commonConditions(query),
    oneOf('status_group', groups),
    ['batch_id = ?', batch],
    ['recipient_id = ?', recipient],
  ]);
}
