/**
 * What a restore to an earlier time has lost: payouts and payments that Temporal knows and the
 * database does not.
 */
import type { Client } from '@temporalio/client';
import { findMissingRows } from '../../db/operations/missing-rows';
import type { Db } from '../../db/transaction';
import { type KnownObject, listKnownObjects, readSummary } from '../../temporal/visibility';

const BATCH = 1_000;
/** How much earlier than the time workflows are listed from: a workflow starts before its row is written. */
const LOOK_BACK_MS = 60 * 60 * 1000;

export interface LostObject extends KnownObject {
  /** Such as `Payout of 10 USDT, test mode`. */
  summary: string | null;
}

/** Lists them in the order of their creation. @throws Error when Temporal does not answer */
export async function listLost(
  db: Db,
  client: Client,
  kind: 'payout' | 'payment',
  since: Date,
): Promise<LostObject[]> {
  const known = await listKnownObjects(client, kind, new Date(since.getTime() - LOOK_BACK_MS));
  const ids = [...known.keys()].sort();
  const lost: LostObject[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    const missing = await findMissingRows(db, kind, ids.slice(start, start + BATCH));
    for (const id of missing.sort()) {
      const object = known.get(id);
      if (object !== undefined) lost.push({ ...object, summary: await readSummary(client, id) });
    }
  }
  return lost;
}
