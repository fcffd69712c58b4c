/** Lists of payments, newest first, by keyset (decision W13). */
import type { Mode } from '../../domain/mode';
import type { Payment, PaymentFilters } from '../../domain/payment';
import { PaymentModel } from '../models/payment';
import { type ListPage, newestFirst } from './newest-first';
import type { Db } from '../transaction';

export interface PaymentListQuery {
  accountId: string;
  mode: Mode;
  limit: number;
  after: { createdAt: string; id: string } | null;
  filters: PaymentFilters;
}

export function listPayments(db: Db, query: PaymentListQuery): Promise<ListPage<Payment>> {
  return newestFirst<Payment>(db, PaymentModel, 'payments', query);
}
