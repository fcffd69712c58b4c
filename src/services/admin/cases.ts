/** What the gateway could not explain, and what an operator found out about it. */
import {
  findCase,
  listCases as readCases,
  resolveCase as writeResolution,
  type Case,
} from '../../db/repositories/cases';
import type { Db, Tx } from '../../db/transaction';
import { makeChange, type ChangedBy } from './change';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

const RESOLUTION_LENGTH_MAX = 2_000;

export function presentCase(found: Case) {
  return {
    id: found.id,
    object: 'case',
    kind: found.kind,
    object_id: found.objectId,
    details: found.details,
    created_at: found.createdAt.toISOString(),
    resolved_at: found.resolvedAt?.toISOString() ?? null,
    resolution: found.resolution,
  };
}

export type ShownCase = ReturnType<typeof presentCase>;

/** Oldest first. @param all also those that are resolved */
export async function listCases(db: Db, all: boolean, limit: number): Promise<ShownCase[]> {
  return (await readCases(db, all, limit)).map(presentCase);
}

/** @throws AdminRefusal */
export async function showCase(db: Db, id: string): Promise<ShownCase> {
  return presentCase(await requireCase(db, id));
}

/** Notes what was decided; the books stay as they are. @throws InvalidInput, AdminRefusal */
export async function resolveCase(
  db: Db,
  by: ChangedBy,
  id: string,
  text: string,
): Promise<ShownCase> {
  const resolution = checkText('resolution', text, RESOLUTION_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    const before = await requireCase(tx, id);
    const resolved = await writeResolution(tx, id, resolution);
    if (resolved === null) {
      throw new AdminRefusal(
        `${id} is resolved already: \`cases show ${id}\` shows how, \`audit list --object ` +
          `${id}\` by whom.`,
      );
    }
    const after = presentCase(resolved);
    return {
      result: after,
      audit: {
        action: 'case.resolve',
        object: 'case',
        objectId: id,
        accountId: null,
        before: presentCase(before),
        after,
      },
    };
  });
}

async function requireCase(db: Db | Tx, id: string): Promise<Case> {
  const found = await findCase(db, id);
  if (found !== null) return found;
  throw new AdminRefusal(
    `The case ${id} does not exist: \`cases list --all\` shows those that do.`,
  );
}
