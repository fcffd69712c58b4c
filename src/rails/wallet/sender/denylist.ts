/**
 * The denylist: what operators decide and the gateway cannot. It is in the database, so that it holds
 * over restarts and for every process. Who decided it stays in wallet.decision.
 */
import type { Address } from 'viem';
import type { Db } from '../db/database';

interface Denial {
  by: string;
  reason: string;
}

export async function denyAddress(db: Db, address: string, { by, reason }: Denial): Promise<void> {
  await db.query(
    `WITH denied AS (
       INSERT INTO wallet.denied_address (address, reason) VALUES ($1, $3)
       ON CONFLICT (address) DO UPDATE SET reason = excluded.reason)
     INSERT INTO wallet.decision (kind, address, decided_by, reason) VALUES ('deny', $1, $2, $3)`,
    [address.toLowerCase(), by, reason],
  );
}

/** @returns whether it was denied */
export async function allowAddress(db: Db, address: string, by: string): Promise<boolean> {
  const allowed = await db.query(
    `WITH ended AS (DELETE FROM wallet.denied_address WHERE address = $1 RETURNING address)
     INSERT INTO wallet.decision (kind, address, decided_by)
     SELECT 'allow', address, $2 FROM ended RETURNING 1`,
    [address.toLowerCase(), by],
  );
  return allowed.length > 0;
}

export async function isDenied(db: Db, address: Address): Promise<boolean> {
  return (await findDenied(db, [address])).has(address);
}

/** Returns which of the addresses are on the denylist. */
export async function findDenied(db: Db, addresses: readonly Address[]): Promise<Set<Address>> {
  const rows = await db.query<{ address: string }>(
    'SELECT address FROM wallet.denied_address WHERE address = ANY($1::text[])',
    [addresses.map((address) => address.toLowerCase())],
  );
  const denied = new Set(rows.map(({ address }) => address));
  return new Set(addresses.filter((address) => denied.has(address.toLowerCase())));
}
