/**
 * Proves that rows are those of the manifest that was approved. The whole manifest is read and hashed once
 * in a process; from then on each row is compared with its own hash, so that releasing a row costs the
 * same in a batch of ten rows and of ten thousand.
 */
import { createHash } from 'node:crypto';
import { type BatchRow, readManifestRows } from '../../src/db/payout-batches/payout-batch-rows';
import type { Db } from '../../src/db/transaction';
import {
  hashManifest,
  presentManifestRow,
} from '../../src/features/payout-batches/payout-batches-contract';

/** The hash of each row of a manifest, by the number of the row. */
type RowHashes = ReadonlyMap<number | null, string>;

/** A manifest of ten thousand rows takes about 2 MB. */
const MANIFESTS_KEPT = 8;

/** The key is the batch and the hash of its manifest; the newest entry is the last. */
const proven = new Map<string, RowHashes>();

/** @returns null when the rows in the database are not those of the manifest */
export async function proveManifest(
  db: Db,
  batchId: string,
  approved: string,
): Promise<RowHashes | null> {
  const key = `${batchId} ${approved}`;
  const known = proven.get(key) ?? (await hashRows(db, batchId, approved));
  proven.delete(key);
  if (known === null) return null;
  proven.set(key, known);
  for (const oldest of proven.keys()) {
    if (proven.size <= MANIFESTS_KEPT) break;
    proven.delete(oldest);
  }
  return known;
}

async function hashRows(db: Db, batchId: string, approved: string): Promise<RowHashes | null> {
  const manifest = hashManifest();
  const hashes = new Map<number | null, string>();
  for await (const row of readManifestRows(db, batchId)) {
    manifest.add(row);
    hashes.set(row.batchRow, hashRow(row));
  }
  return manifest.sha256() === approved ? hashes : null;
}

export function isOfManifest(hashes: RowHashes, row: BatchRow): boolean {
  return hashes.get(row.batchRow) === hashRow(row);
}

function hashRow(row: BatchRow): string {
  return createHash('sha256').update(presentManifestRow(row)).digest('base64');
}
