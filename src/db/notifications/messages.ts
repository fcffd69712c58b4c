/**
 * Mails and chat messages: their guarded status decides that each is sent at most once
 * (decisions/notifications#notifications).
 */
import type { Db } from '../transaction';

/** The tables of messages, one for each way. */
export type MessageTable = 'notifications' | 'link_mails' | 'chat_messages';

/** The status of a message; docs/operations.md, "Notifications", explains each. */
export type MessageStatus = 'waiting' | 'sending' | 'sent' | 'refused' | 'unclear' | 'dropped';

/** @returns false if the message has another status: another call sends it, or it has ended */
export async function moveMessage(
  db: Db,
  table: MessageTable,
  id: string,
  [from, to]: readonly [MessageStatus, MessageStatus],
  error: string | null = null,
): Promise<boolean> {
  const moved = await db.query(
    `UPDATE ${table} SET status = ?, last_error = ?, updated_at = clock_timestamp()
      WHERE id = ? AND status = ? RETURNING id`,
    [to, error, id, from],
  );
  return moved.length === 1;
}

/** The messages to send, oldest first. Those that nobody could send in a day are given up. */
export async function listWaiting(db: Db, table: MessageTable, limit: number): Promise<string[]> {
  await db.query(
    `UPDATE ${table} SET status = 'refused', updated_at = clock_timestamp()
      WHERE status = 'waiting' AND created_at < now() - interval '1 day'`,
  );
  const sql = `SELECT id FROM ${table} WHERE status = 'waiting' ORDER BY created_at LIMIT ?`;
  return (await db.query<{ id: string }>(sql, [limit])).map(({ id }) => id);
}
