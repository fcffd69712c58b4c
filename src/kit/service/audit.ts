/**
 * The audit log: every operator change and its row are written in one transaction, so that neither
 * exists without the other.
 */
import {
  appendAudit,
  eraseAuditEntry,
  findAuditAccount,
  type NewAuditEntry,
} from '../../db/audit/audit-log';
import type { Db, Tx } from '../../db/transaction';
import { AdminRefusal } from './refusal';

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

/**
 * Erases who made a change, from where, the states before and after, and the reason. The chain still proves
 * the rest, and the entry of this erasure says who asked for it.
 * @throws AdminRefusal
 */
export async function eraseEntry(db: Db, by: ChangedBy, id: string): Promise<{ id: string }> {
  return makeChange(db, by, async (tx) => {
    const outcome = await eraseAuditEntry(tx, id);
    if (outcome === 'unknown')
      throw new AdminRefusal({ code: 'not_found', object: 'audit_entry', id });
    if (outcome === 'needed') throw new AdminRefusal({ code: 'audit_entry_needed', id });
    if (outcome === 'not_sealed') throw new AdminRefusal({ code: 'audit_entry_not_sealed', id });
    if (outcome === 'erased_before') throw new AdminRefusal({ code: 'audit_entry_erased', id });
    const audit = {
      action: 'audit.erase',
      object: 'audit_entry',
      objectId: id,
      accountId: await findAuditAccount(tx, id),
      before: null,
      after: null,
    };
    return { audit, result: { id } };
  });
}

export { type AuditHead, listHeads } from '../../db/audit/audit-chain';
export { type AuditVerification, verifyAuditChain } from '../../db/audit/audit-verify';
export { listAudit } from '../../db/audit/audit-log';
