/**
 * The denylist: what operators decide and the gateway cannot. It is in the database, so that it holds
 * over restarts and for every process.
 */
import type { Address } from 'viem';
import type { Db } from '../db/database';

export async function denyAddress(db: Db, address: string, reason: string): Promise<void> {
  await db.query(
    `INSERT INTO wallet.denied_address (address, reason) VALUES ($1, $2)
     ON CONFLICT (address) DO UPDATE SET reason = excluded.reason`,
    [address.toLowerCase(), reason],
  );
}

export async function allowAddress(db: Db, address: string): Promise<void> {
  await db.query('DELETE FROM wallet.denied_address WHERE address = $1', [address.toLowerCase()]);
}

export async function isDenied(db: Db, address: Address): Promise<boolean> {
  return (await findDenied(db, [address])).has(address);
}

/** Those of the addresses that are on the denylist. */
export async function findDenied(db: Db, addresses: readonly Address[]): Promise<Set<Address>> {
  const rows = await db.query<{ address: string }>(
    'SELECT address FROM wallet.denied_address WHERE address = ANY($1::text[])',
    [addresses.map((address) => address.toLowerCase())],
  );
  const denied = new Set(rows.map(({ address }) => address));
  return new Set(addresses.filter((address) => denied.has(address.toLowerCase())));
}
