/** The payments of an account, the newest first. */
import type { Payment, PaymentStatus } from '../../domain/payment';
import {
  commonConditions,
  type CommonFilters,
  type ListPage,
  type ListQuery,
  newestFirst,
} from '../lists';
import { Payments } from '../models';
import type { Reader } from '../transaction';

export type PaymentFilters = CommonFilters<PaymentStatus>;

export function listPayments(
  db: Reader,
  query: ListQuery<PaymentFilters>,
): Promise<ListPage<Payment>> {
  return newestFirst(db, Payments, query, commonConditions(query));
}
