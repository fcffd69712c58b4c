/** The chats that an account, in a mode, or the operators have added (decisions/notifications#chat-webhooks). */
import type { ChatKind } from '../../domain/notifications';
import type { Owner } from '../../domain/mode';
import type { SealedSecret } from '../../platform/lib/secret-box';
import type { Reader, Tx } from '../transaction';
import type { MessageStatus } from './messages';

/** Null means the operators'. */
export type ChatOwner = Owner | null;

export interface ChatWebhook {
  id: string;
  name: string;
  hint: string;
  kinds: ChatKind[];
  createdAt: Date;
}

/** A chat with its last message. */
export type ListedChat = ChatWebhook & {
  lastStatus: MessageStatus | null;
  lastError: string | null;
};

const OWNED = 'account_id IS NOT DISTINCT FROM ? AND mode IS NOT DISTINCT FROM ?';
const keyOf = (owner: ChatOwner) => [owner?.accountId ?? null, owner?.mode ?? null];
const COLUMNS = 'c.id, c.name, c.hint, c.kinds, c.created_at';

/** The oldest first. */
export function listChats(db: Reader, owner: ChatOwner): Promise<ListedChat[]> {
  return db.query<ListedChat>(
    `SELECT ${COLUMNS}, m.status AS last_status, m.last_error
       FROM chat_webhooks c LEFT JOIN LATERAL (
            SELECT status, last_error FROM chat_messages
             WHERE chat_id = c.id ORDER BY created_at DESC LIMIT 1) m ON true
      WHERE ${OWNED} ORDER BY c.created_at, c.id`,
    keyOf(owner),
  );
}

export async function insertChat(
  tx: Tx,
  owner: ChatOwner,
  chat: Pick<ChatWebhook, 'id' | 'name' | 'hint' | 'kinds'>,
  { sealed, keyId }: SealedSecret,
): Promise<void> {
  await tx.query(
    `INSERT INTO chat_webhooks (id, account_id, mode, name, hint, kinds, sealed, sealed_key_id)
     VALUES (?, ?, ?, ?, ?, ?::text[], ?, ?)`,
    [chat.id, ...keyOf(owner), chat.name, chat.hint, chat.kinds, sealed, keyId],
  );
}

/** Null if the owner has no such chat. */
export async function findChat(
  db: Reader,
  owner: ChatOwner,
  id: string,
): Promise<ChatWebhook | null> {
  const sql = `SELECT ${COLUMNS} FROM chat_webhooks c WHERE c.id = ? AND ${OWNED}`;
  const [found] = await db.query<ChatWebhook>(sql, [id, ...keyOf(owner)]);
  return found ?? null;
}

/** @returns the chat and the kinds of before; null if the owner has no such chat */
export async function replaceChatKinds(
  tx: Tx,
  owner: ChatOwner,
  id: string,
  kinds: readonly ChatKind[],
): Promise<(ChatWebhook & { kindsBefore: ChatKind[] }) | null> {
  const [changed] = await tx.query<ChatWebhook & { kindsBefore: ChatKind[] }>(
    `WITH before AS (SELECT id, kinds FROM chat_webhooks WHERE id = ? AND ${OWNED} FOR UPDATE)
     UPDATE chat_webhooks c SET kinds = ?::text[] FROM before
      WHERE c.id = before.id RETURNING ${COLUMNS}, before.kinds AS kinds_before`,
    [id, ...keyOf(owner), [...kinds]],
  );
  return changed ?? null;
}

/** With its messages. Null if the owner has no such chat. */
export async function deleteChat(
  tx: Tx,
  owner: ChatOwner,
  id: string,
): Promise<ChatWebhook | null> {
  const [gone] = await tx.query<ChatWebhook>(
    `DELETE FROM chat_webhooks c WHERE c.id = ? AND ${OWNED} RETURNING ${COLUMNS}`,
    [id, ...keyOf(owner)],
  );
  return gone ?? null;
}

/** @returns false if the owner has no such chat */
export async function insertTestMessage(
  tx: Tx,
  owner: ChatOwner,
  chatId: string,
  id: string,
): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO chat_messages (id, chat_id, kind)
     SELECT ?, c.id, 'test' FROM chat_webhooks c WHERE c.id = ? AND ${OWNED} RETURNING id`,
    [id, chatId, ...keyOf(owner)],
  );
  return inserted.length === 1;
}

/** Locks chats whose secrets are encrypted with another key than this one. */
export async function lockChatsOfOtherKeys(
  tx: Tx,
  keyId: string,
  limit: number,
): Promise<(SealedSecret & { id: string })[]> {
  return tx.query(
    `SELECT id, sealed, sealed_key_id AS key_id FROM chat_webhooks
      WHERE sealed_key_id <> ? ORDER BY id LIMIT ? FOR UPDATE`,
    [keyId, limit],
  );
}

export async function replaceChatSecret(
  tx: Tx,
  id: string,
  { sealed, keyId }: SealedSecret,
): Promise<void> {
  const sql = 'UPDATE chat_webhooks SET sealed = ?, sealed_key_id = ? WHERE id = ?';
  await tx.query(sql, [sealed, keyId, id]);
}
