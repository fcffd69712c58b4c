/** The query of GET /payments (decision W13). */
import { PAYMENT_STATUSES, type PaymentFilters } from '../domain/payment';
import { given, type ListQuery, type Query, QueryReader } from './query-reader';

export interface PaymentQuery extends ListQuery {
  filters: PaymentFilters;
}

const REFERENCE_FILTER = /^[\x21-\x7e]{1,64}$/;

/** @throws ApiError validation_failed with every failing parameter */
export function readPaymentQuery(query: Query): PaymentQuery {
  const reader = new QueryReader(query);
  const filters = given({
    status: reader.someOf('status', PAYMENT_STATUSES),
    reference: reader.matching(
      'reference',
      REFERENCE_FILTER,
      '1 to 64 printable ASCII characters without spaces',
    ),
    currency: reader.currency(),
    provider: reader.provider(),
    createdFrom: reader.time('created_from', 'from'),
    createdTo: reader.time('created_to', 'to'),
  });
  return { filters, ...reader.list() };
}
