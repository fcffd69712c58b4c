/** The payments of an account, the newest first. */
import type { Payment, PaymentFilters } from '../../domain/payment';
import { commonConditions, type ListPage, type ListQuery, newestFirst } from '../lists';
import { Payments } from '../models';
import type { Reader } from '../transaction';

export function listPayments(
  db: Reader,
  query: ListQuery<PaymentFilters>,
): Promise<ListPage<Payment>> {
  return newestFirst(db, Payments, query, commonConditions(query));
}
