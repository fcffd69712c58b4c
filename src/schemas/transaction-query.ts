/** The query of GET /transactions (the specification; decision W13). */
import { TRANSACTION_TYPES, type TransactionFilters } from '../domain/ledger';
import { given, type ListQuery, type Query, QueryReader } from './query-reader';

export interface TransactionQuery extends ListQuery {
  filters: TransactionFilters;
}

const SOURCE_ID = /^(pay|po|adj)_[0-9A-HJKMNP-TV-Z]{26}$/;

/** @throws ApiError validation_failed with every failing parameter */
export function readTransactionQuery(query: Query): TransactionQuery {
  const reader = new QueryReader(query);
  const filters = given({
    currency: reader.currency(),
    type: reader.oneOf('type', TRANSACTION_TYPES),
    sourceId: reader.matching('source_id', SOURCE_ID, 'the id of a payment, payout or adjustment'),
    createdFrom: reader.time('created_from', 'from'),
    createdTo: reader.time('created_to', 'to'),
  });
  return { filters, ...reader.list() };
}
