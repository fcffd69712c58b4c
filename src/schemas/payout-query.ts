/** The query of GET /payouts (decision W13). */
import { PAYOUT_STATUSES, type PayoutFilters } from '../domain/payout';
import { given, type ListQuery, type Query, QueryReader } from './query-reader';

export interface PayoutQuery extends ListQuery {
  filters: PayoutFilters;
}

const REFERENCE_FILTER = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws ApiError validation_failed with every failing parameter */
export function readPayoutQuery(query: Query): PayoutQuery {
  const reader = new QueryReader(query);
  const filters = given({
    status: reader.someOf('status', PAYOUT_STATUSES),
    reference: reader.matching(
      'reference',
      REFERENCE_FILTER,
      '1 to 64 letters, digits, "_" and "-"',
    ),
    currency: reader.currency(),
    provider: reader.provider(),
    createdFrom: reader.time('created_from', 'from'),
    createdTo: reader.time('created_to', 'to'),
  });
  return { filters, ...reader.list() };
}
