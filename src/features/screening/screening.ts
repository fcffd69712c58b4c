/**
 * The sources of the screening (decisions/controls#screening): lists that an operator imports, and the
 * service.
 */
import { createHash } from 'node:crypto';
import {
  deleteSource,
  lockSource,
  saveList,
  type ScreeningSource,
} from '../../db/screening/screening';
import type { Db } from '../../db/transaction';
import { SERVICE, type Verdict } from '../../domain/screening';
import { presentScreeningSource } from '../../kit/service/admin';
import {
  ListFault,
  type ListFormat,
  readList,
  type ReadList,
} from '../../adapters/screening/lists';
import { makeChange, type ChangedBy } from '../../kit/service/audit';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';

export { listSources } from '../../db/screening/screening';
export { LIST_FORMATS } from '../../adapters/screening/lists';

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export interface ListImport {
  name: string;
  format: ListFormat;
  /** The verdict of a match. */
  verdict: Exclude<Verdict, 'clear'>;
  /** The file's content. */
  text: string;
}

/**
 * Puts a file in the place of the list's earlier entries. Earlier answers of the list no longer count, unless
 * nothing has changed.
 * @throws InvalidInput, AdminRefusal
 */
export async function importList(
  db: Db,
  by: ChangedBy,
  { name, format, verdict, text }: ListImport,
): Promise<ScreeningSource> {
  if (!NAME.test(name) || name === SERVICE) {
    throw new InvalidInput('list', { code: 'not_a_list_name', value: name });
  }
  const { entries, published } = readFile(format, text);
  const sha256 = createHash('sha256').update(JSON.stringify(entries)).digest('hex');
  return makeChange(db, by, async (tx) => {
    const before = await lockSource(tx, name);
    const isSame = before?.sha256 === sha256 && before.verdict === verdict;
    if (isSame && before.published === published) {
      throw new AdminRefusal({ code: 'nothing_to_change' });
    }
    const list = { name, verdict, format, published, sha256 };
    const saved = await saveList(tx, list, entries, isSame);
    return { result: saved, audit: auditOf('screening.import', name, before, saved) };
  });
}

/** @throws InvalidInput */
function readFile(format: ListFormat, text: string): ReadList {
  try {
    return readList(format, text);
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
    throw new InvalidInput('file', { code: 'not_a_list', explanation: error.message });
  }
}

/** Removes a source, which is not asked any more. @throws AdminRefusal when there is none of this name */
export async function removeSource(db: Db, by: ChangedBy, name: string): Promise<ScreeningSource> {
  return makeChange(db, by, async (tx) => {
    const removed = await deleteSource(tx, name);
    if (removed === null) throw new AdminRefusal({ code: 'no_screening_source', name });
    return { result: removed, audit: auditOf('screening.remove', name, removed, null) };
  });
}

function auditOf(
  action: 'screening.import' | 'screening.remove',
  name: string,
  before: ScreeningSource | null,
  after: ScreeningSource | null,
) {
  const present = (source: ScreeningSource | null) =>
    source === null ? null : presentScreeningSource(source);
  return {
    action,
    object: 'screening_source',
    objectId: name,
    accountId: null,
    before: present(before),
    after: present(after),
  };
}
