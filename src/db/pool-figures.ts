/** How full a connection pool is, without asking the database. */
import type { Db } from './transaction';

export interface PoolFigures {
  max: number;
  inUse: number;
  idle: number;
  /** Requests and activities that wait for a connection. */
  waiting: number;
}

/** The pool of knex (tarn). */
interface Pool {
  max: number;
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

export function readPool(db: Db): PoolFigures {
  const { pool } = db.client as { pool: Pool };
  return {
    max: pool.max,
    inUse: pool.numUsed(),
    idle: pool.numFree(),
    waiting: pool.numPendingAcquires(),
  };
}
