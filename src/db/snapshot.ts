/** Long reads of one moment, for checks and comparisons. */
import { type Db, rows, type Tx } from './transaction';

/** A full check reads every entry, so it needs longer than a request may take. */
const STATEMENT_TIMEOUT = '30min';

/** One snapshot for all of it: two queries must not see two different moments. */
export async function onOneSnapshot<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(
    async (tx) => {
      await rows(tx, `SET LOCAL statement_timeout = '${STATEMENT_TIMEOUT}'`);
      return work(tx);
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
