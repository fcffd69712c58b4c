/** Cases: what the gateway could not resolve by itself, and how an operator resolved it. */
import { findCase, resolveCase as writeResolution, type Case } from '../../db/repositories/cases';
import type { Db, Tx } from '../../db/transaction';
import { presentCase } from '../../presenters/admin';
import { makeChange, type ChangedBy } from './audit';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

export { listCases } from '../../db/repositories/cases';

const RESOLUTION_LENGTH_MAX = 2_000;

export interface CaseResolution {
  /** How many facts the operator saw. With any other number the resolution is refused. */
  seen: number;
  text: string;
}

/** Records the resolution; the ledger is not changed. @throws InvalidInput, AdminRefusal */
export async function resolveCase(
  db: Db,
  by: ChangedBy,
  id: string,
  { seen, text }: CaseResolution,
): Promise<Case> {
  const resolution = checkText('resolution', text, RESOLUTION_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    const before = await requireCase(tx, id);
    const resolved = await writeResolution(tx, id, seen, resolution);
    if (resolved === null) {
      const isOpen = (await requireCase(tx, id)).resolvedAt === null;
      throw new AdminRefusal({ code: isOpen ? 'case_changed' : 'case_already_resolved', id });
    }
    return {
      result: resolved,
      audit: {
        action: 'case.resolve',
        object: 'case',
        objectId: id,
        accountId: null,
        before: presentCase(before),
        after: presentCase(resolved),
      },
    };
  });
}

/** @throws AdminRefusal */
export async function requireCase(db: Db | Tx, id: string): Promise<Case> {
  const found = await findCase(db, id);
  if (found !== null) return found;
  throw new AdminRefusal({ code: 'not_found', object: 'case', id });
}
