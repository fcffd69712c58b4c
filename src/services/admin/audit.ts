/**
 * The audit log: every operator change and its row are written in one transaction, so that neither
 * exists without the other.
 */
import { appendAudit, type NewAuditEntry } from '../../db/repositories/audit-log';
import type { Db, Tx } from '../../db/transaction';

/** Who makes a change, and why. */
export interface ChangedBy extends Pick<NewAuditEntry, 'via' | 'address'> {
  actor: string;
  reason: string | null;
}

export type AuditedObject = Omit<NewAuditEntry, keyof ChangedBy>;

/** The audit row of a change, and the result for the caller. */
export interface Change<T> {
  audit: AuditedObject;
  result: T;
}

export async function makeChange<T>(
  db: Db,
  by: ChangedBy,
  work: (tx: Tx) => Promise<Change<T>>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const { audit, result } = await work(tx);
    await appendAudit(tx, { ...by, ...audit });
    return result;
  });
}

export { listAudit } from '../../db/repositories/audit-log';
