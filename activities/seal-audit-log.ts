/** Seals the new entries of the audit log, and signs the head of the chain once an hour (decisions/books#audit-log). */
import { type AuditHead, sealBatch, signHead } from '../src/db/audit/audit-chain';
import type { Db } from '../src/db/transaction';
import type { EvidenceKey } from '../src/platform/lib/evidence-key';

export interface AuditDeps {
  db: Db;
  /** Null if heads have no signature. */
  evidenceKey: EvidenceKey | null;
}

/** A run starts no other batch after this time. Its activity has five minutes. */
const FOR_MS = 4 * 60_000;

/** Safe to run twice, also at the same time. */
export async function sealAuditLog(
  { db, evidenceKey }: AuditDeps,
  batch?: number,
): Promise<{ sealed: number; head: AuditHead | null }> {
  const startedMs = performance.now();
  let sealed = 0;
  for (;;) {
    const count = await sealBatch(db, batch);
    sealed += count;
    if (count === 0 || performance.now() - startedMs > FOR_MS) break;
  }
  return { sealed, head: await signHead(db, evidenceKey) };
}
