import { Model } from 'objection';
import { COLUMN_NAMES } from '../transaction';

/** Rows of `payments`; read as the domain's `Payment`. Columns in queries are the table's own. */
export class PaymentModel extends Model {
  static override tableName = 'payments';
  static override columnNameMappers = COLUMN_NAMES;
  static override jsonAttributes = ['feeTerms', 'metadata'];
}
