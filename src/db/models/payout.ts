import { Model, snakeCaseMappers } from 'objection';

/**
 * Rows of `payouts`; read as the domain's `Payout`. Values that are read and written are in camel
 * case, columns named in a query are the table's own.
 */
export class PayoutModel extends Model {
  static override tableName = 'payouts';
  static override columnNameMappers = snakeCaseMappers();
  static override jsonAttributes = ['feeTerms', 'metadata'];
}
