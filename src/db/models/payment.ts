import { Model, snakeCaseMappers } from 'objection';

/** Rows of `payments`; read as the domain's `Payment`. Columns in queries are the table's own. */
export class PaymentModel extends Model {
  static override tableName = 'payments';
  static override columnNameMappers = snakeCaseMappers();
  static override jsonAttributes = ['feeTerms', 'metadata'];
}
