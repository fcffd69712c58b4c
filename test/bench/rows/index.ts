/** The rows of the benchmark, in the order of the table. */
import type { Row } from '../row';
import { BATCH_ROW } from './batches';
import { COUNTED_ROW } from './counted';
import { CREATE_ROWS } from './creates';
import { DELIVERY_ROWS } from './deliveries';
import { GROWTH_ROW } from './growth';
import { LEDGER_ROWS } from './ledger';
import { LIFECYCLE_ROWS } from './lifecycles';
import { READ_ROWS, REQUEST_LOG_ROW } from './reads';
import { RESOURCE_ROWS } from './resources';

export const ROWS: readonly Row[] = [
  ...READ_ROWS,
  REQUEST_LOG_ROW,
  ...CREATE_ROWS,
  ...LIFECYCLE_ROWS,
  ...DELIVERY_ROWS,
  ...LEDGER_ROWS,
  GROWTH_ROW,
  ...RESOURCE_ROWS,
  BATCH_ROW,
  COUNTED_ROW,
];
