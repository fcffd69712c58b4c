/**
 * Hand-over notes: what operators write down about a payout or a case for the next one. A note is an entry of
 * the audit log, so it is never changed or removed, and the merchant does not see it.
 */
import { appendAudit, listAudit } from '../../db/audit/audit-log';
import { type Db, lockByName } from '../../db/transaction';
import type { ChangedBy } from '../../kit/service/audit';
import { checkText } from '../../kit/service/checks';

export const NOTE_LENGTH_MAX = 1_000;
const NOTES_SHOWN = 100;

export interface Noted {
  object: 'payout' | 'case';
  id: string;
}

export interface Note {
  at: Date;
  actor: string;
  text: string;
}

export async function listNotes(db: Db, { object, id }: Noted): Promise<Note[]> {
  const query = { objectId: id, action: `${object}.note`, limit: NOTES_SHOWN };
  const entries = await listAudit(db, query);
  return entries.map(({ at, actor, reason }) => ({ at, actor, text: reason ?? '' }));
}

/** A form that is sent twice writes one note. @throws InvalidInput for the field `handover` */
export async function addNote(
  db: Db,
  by: ChangedBy,
  { object, id, accountId }: Noted & { accountId: string | null },
  note: string,
): Promise<void> {
  const text = checkText('handover', note, NOTE_LENGTH_MAX);
  const action = `${object}.note`;
  await db.transaction(async (tx) => {
    await lockByName(tx, action, id);
    const [last] = await listAudit(tx, { objectId: id, action, limit: 1 });
    if (last?.actor === by.actor && last.reason === text) return;
    const entry = { action, object, objectId: id, accountId, before: null, after: null };
    await appendAudit(tx, { ...by, ...entry, reason: text });
  });
}
