/** The rows of the benchmark, in the order of the table. */
import type { Row } from '../row';
import { READ_ROWS } from './reads';

export const ROWS: readonly Row[] = [...READ_ROWS];
