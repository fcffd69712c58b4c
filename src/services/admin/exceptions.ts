/** What the gateway could not explain, and what an operator found out about it. */
import {
  findException,
  listExceptions as readExceptions,
  resolveException as writeResolution,
  type Exception,
} from '../../db/repositories/exceptions';
import type { Db, Tx } from '../../db/transaction';
import { makeChange, type ChangedBy } from './change';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

const RESOLUTION_LENGTH_MAX = 2_000;

export function presentException(exception: Exception) {
  return {
    id: exception.id,
    object: 'exception',
    kind: exception.kind,
    object_id: exception.objectId,
    details: exception.details,
    created_at: exception.createdAt.toISOString(),
    resolved_at: exception.resolvedAt?.toISOString() ?? null,
    resolution: exception.resolution,
  };
}

export type ShownException = ReturnType<typeof presentException>;

/** Oldest first. @param all also those that are resolved */
export async function listExceptions(
  db: Db,
  all: boolean,
  limit: number,
): Promise<ShownException[]> {
  return (await readExceptions(db, all, limit)).map(presentException);
}

/** @throws AdminRefusal */
export async function showException(db: Db, id: string): Promise<ShownException> {
  return presentException(await requireException(db, id));
}

/** Notes what was decided; the books stay as they are. @throws InvalidInput, AdminRefusal */
export async function resolveException(
  db: Db,
  by: ChangedBy,
  id: string,
  text: string,
): Promise<ShownException> {
  const resolution = checkText('resolution', text, RESOLUTION_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    const before = await requireException(tx, id);
    const resolved = await writeResolution(tx, id, resolution);
    if (resolved === null) {
      throw new AdminRefusal(
        `${id} is resolved already: \`exceptions show ${id}\` shows how, \`audit list --object ` +
          `${id}\` by whom.`,
      );
    }
    const after = presentException(resolved);
    return {
      result: after,
      audit: {
        action: 'exception.resolve',
        object: 'exception',
        objectId: id,
        accountId: null,
        before: presentException(before),
        after,
      },
    };
  });
}

async function requireException(db: Db | Tx, id: string): Promise<Exception> {
  const exception = await findException(db, id);
  if (exception !== null) return exception;
  throw new AdminRefusal(
    `The exception ${id} does not exist: \`exceptions list --all\` shows those that do.`,
  );
}
