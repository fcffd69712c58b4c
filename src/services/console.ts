/**
 * What the supervising pages of the operator console read and change, over all accounts and both
 * modes. src/deps.ts builds it; the changes are those of the admin command.
 */
import {
  type OperatorAttention,
  readOperatorAttention,
} from '../db/repositories/console-attention';
import { listPauses, type Pause } from '../db/repositories/payout-pauses';
import type { Db } from '../db/transaction';
import { CASE_KINDS } from '../domain/cases';
import { type ConsoleCases, createConsoleCases } from './console-cases';

export { COUNT_MAX } from '../db/repositories/console-attention';

/** A banner that names more is not read. */
const PAUSES_MAX = 100;

export interface ConsoleServices {
  attention: () => Promise<OperatorAttention>;
  cases: ConsoleCases;
  /** At most 100, the oldest first. */
  pauses: () => Promise<Pause[]>;
}

export interface ConsoleDeps {
  db: Db;
}

export function createConsoleServices({ db }: ConsoleDeps): ConsoleServices {
  return {
    attention: () => readOperatorAttention(db, CASE_KINDS),
    cases: createConsoleCases(db),
    pauses: () => listPauses(db, PAUSES_MAX),
  };
}
