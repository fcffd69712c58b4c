/** The rows of the benchmark, in the order of the table. */
import type { Row } from '../row';
import { COUNTED_ROW } from './counted';
import { GROWTH_ROW } from './growth';
import { LEDGER_ROWS } from './ledger';
import { READ_ROWS } from './reads';

export const ROWS: readonly Row[] = [...READ_ROWS, ...LEDGER_ROWS, GROWTH_ROW, COUNTED_ROW];
