/** Reads the facts that domain/batch-terms.ts decides by, in a few statements for all rows. */
import type { BatchFacts, GroupFacts, RoutedRow } from '../../domain/batch-terms';
import type { Owner } from '../../domain/mode';
import type { Db, Tx } from '../transaction';
import { readPayoutFacts } from '../payouts/payout-facts';

interface Whose extends Owner {
  apiKeyId: string;
}

/** @param db in the reserving transaction, after `lockUsage` of every currency */
export async function readBatchFacts(
  db: Db | Tx,
  whose: Whose,
  batch: readonly RoutedRow[],
): Promise<BatchFacts> {
  const groups = new Map<string, GroupFacts>();
  for (const row of batch) {
    const key = groupKey(row);
    if (groups.has(key)) continue;
    const { request, route } = row;
    groups.set(key, await readPayoutFacts(db, { ...whose, ...route, request }));
  }
  const existing = await readExisting(db, whose, batch);
  const used = await readUsedDestinations(db, whose, batch);
  return {
    groupOf: (row) => {
      const facts = groups.get(groupKey(row));
      if (facts === undefined) throw new Error('the row belongs to another batch');
      return facts;
    },
    existingIdOf: (reference) => existing.get(reference) ?? null,
    isUsedDestination: ({ request, route }) =>
      used.has(destinationKey({ ...request.destination, network: route.network })),
  };
}

function groupKey({ request, route }: RoutedRow): string {
  return JSON.stringify([route.provider, route.network, request.currency]);
}

async function readExisting(
  db: Db | Tx,
  { accountId, mode }: Whose,
  batch: readonly RoutedRow[],
): Promise<Map<string, string>> {
  const found = await db.query<{ reference: string; id: string }>(
    `SELECT reference, id FROM payouts
      WHERE account_id = ? AND mode = ? AND reference = ANY (?::text[])`,
    [accountId, mode, batch.map(({ request }) => request.reference)],
  );
  return new Map(found.map(({ reference, id }) => [reference, id]));
}

interface Destination {
  type: string;
  value: string;
  memo?: string | null | undefined;
  network: string | null;
}

/** The destinations to which a payout was completed. */
async function readUsedDestinations(
  db: Db | Tx,
  { accountId, mode }: Whose,
  batch: readonly RoutedRow[],
): Promise<Set<string>> {
  const values = [...new Set(batch.map(({ request }) => request.destination.value))];
  const found = await db.query<Destination>(
    `SELECT DISTINCT destination_type AS type, destination_value AS value,
            destination_memo AS memo, network
       FROM payouts
      WHERE account_id = ? AND mode = ? AND status = 'completed'
        AND destination_value = ANY (?::text[])`,
    [accountId, mode, values],
  );
  return new Set(found.map(destinationKey));
}

function destinationKey({ type, value, memo, network }: Destination): string {
  return JSON.stringify([type, value, memo ?? null, network]);
}
