/**
 * What operators decide and the gateway cannot: the kill switch of a chain and the denylist. Both are
 * in the database, so that they hold over restarts and for every process.
 */
import type { Address } from 'viem';
import type { Db } from '../db/database';

/** Nothing is signed or broadcast on the chain until `resumeChain`; outcomes are still read. */
export async function pauseChain(db: Db, chainId: number, reason: string): Promise<void> {
  await db.query(
    `INSERT INTO wallet.pause (chain_id, reason) VALUES ($1, $2)
     ON CONFLICT (chain_id, stops) DO UPDATE SET reason = excluded.reason`,
    [chainId, reason],
  );
}

export async function resumeChain(db: Db, chainId: number): Promise<void> {
  await db.query("DELETE FROM wallet.pause WHERE chain_id = $1 AND stops = 'payouts'", [chainId]);
}

/** Payouts are paused, or the whole chain is (chain/pause.ts). */
export async function isPaused(db: Db, chainId: number): Promise<boolean> {
  return (await db.query('SELECT 1 FROM wallet.pause WHERE chain_id = $1', [chainId])).length > 0;
}

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
