/** The rows of the benchmark, in the order of the table. */
import type { Row } from '../row';
import { COUNTED_ROW } from './counted';
import { READ_ROWS } from './reads';

export const ROWS: readonly Row[] = [...READ_ROWS, COUNTED_ROW];
