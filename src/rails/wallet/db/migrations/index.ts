/**
 * The wallet's migrations in the order in which they are applied: until the first release, one baseline in sections.
 * They only go forward; a change is a new migration with the next number, from 0034 on.
 */
import type { Migration } from '../../../../platform/postgres/migrate';
import { DEPOSITS } from './baseline/deposits';
import { OPERATIONS } from './baseline/operations';
import { SWEEPS } from './baseline/sweeps';
import { TRANSFERS } from './baseline/transfers';
import { MERCHANT_NAME } from './0031-merchant-name';
import { FENCES } from './0032-fences';
import { MERCHANT_LOGO } from './0033-merchant-logo';

export const MIGRATIONS: readonly Migration[] = [
  { name: '0030-baseline', sql: [TRANSFERS, DEPOSITS, SWEEPS, OPERATIONS].join('') },
  { name: '0031-merchant-name', sql: MERCHANT_NAME },
  { name: '0032-fences', sql: FENCES },
  { name: '0033-merchant-logo', sql: MERCHANT_LOGO },
];
