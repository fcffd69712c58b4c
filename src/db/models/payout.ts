import { Model } from 'objection';
import { COLUMN_NAMES } from '../transaction';

/**
 * Rows of `payouts`; read as the domain's `Payout`. Values that are read and written are in camel
 * case, columns named in a query are the table's own.
 */
export class PayoutModel extends Model {
  static override tableName = 'payouts';
  static override columnNameMappers = COLUMN_NAMES;
  static override jsonAttributes = ['feeTerms', 'metadata'];
}
