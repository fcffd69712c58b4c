/** The query of GET /fees/quote: everything is required. */
import { DIRECTIONS, type FeeQuoteRequest } from '../domain/fees';
import { type Query, QueryReader } from './query-reader';

/** @throws ApiError validation_failed with every failing parameter */
export function readFeeQuoteQuery(query: Query): FeeQuoteRequest {
  const reader = new QueryReader(query);
  const request = {
    direction: reader.requiredOneOf('direction', DIRECTIONS),
    provider: reader.requiredProvider(),
    currency: reader.requiredCurrency(),
    amount: reader.requiredAmount('amount'),
  };
  reader.throwIfFaulty();
  return request as FeeQuoteRequest;
}
