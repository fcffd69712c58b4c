/** Reads the audit log. Nothing writes it but a change itself, see change.ts. */
import {
  listAudit as readAudit,
  type AuditEntry,
  type AuditQuery,
} from '../../db/repositories/audit-log';
import type { Db } from '../../db/transaction';

export function presentAuditEntry(entry: AuditEntry) {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    by: entry.actor,
    action: entry.action,
    object: entry.object,
    object_id: entry.objectId,
    account_id: entry.accountId,
    before: entry.before,
    after: entry.after,
    reason: entry.reason,
  };
}

export type ShownAuditEntry = ReturnType<typeof presentAuditEntry>;

/** Newest first. */
export async function listAudit(db: Db, query: AuditQuery): Promise<ShownAuditEntry[]> {
  return (await readAudit(db, query)).map(presentAuditEntry);
}
