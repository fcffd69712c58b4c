/**
 * What chats are notified of (decisions/notifications#chat-webhooks): the unique rows of told_chats decide that a
 * chat is notified once.
 */
import { DIGEST, type ChatKind } from '../../domain/notifications';
import type { Mode } from '../../domain/mode';
import type { SealedSecret } from '../../platform/lib/secret-box';
import type { Db, Reader, Tx } from '../transaction';
import type { MessageStatus } from './messages';

/** The chats of the occasion's account and mode, or of the operators, that have chosen its kind. */
export async function addressChats(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.query(
    `INSERT INTO told_chats (occasion_key, chat_id)
     SELECT o.key, c.id FROM occasions o JOIN chat_webhooks c
         ON c.account_id IS NOT DISTINCT FROM o.account_id AND c.mode IS NOT DISTINCT FROM o.mode
        AND o.kind = ANY (c.kinds) AND c.created_at <= o.created_at
      WHERE o.key = ANY (?::text[]) AND o.user_id IS NULL
     ON CONFLICT DO NOTHING`,
    [[...keys]],
  );
}

interface PendingChat {
  chatId: string;
  kind: ChatKind;
}

/** The chats whose occasions can become a message now: fewer of the kind than a digest allows. */
export function listPendingChats(tx: Tx, limit: number): Promise<PendingChat[]> {
  return tx.query<PendingChat>(
    `SELECT t.chat_id, o.kind FROM told_chats t JOIN occasions o ON o.key = t.occasion_key
      WHERE t.message_id IS NULL
      GROUP BY t.chat_id, o.kind
     HAVING (SELECT count(*) FROM chat_messages m
              WHERE m.chat_id = t.chat_id AND m.kind = o.kind
                AND m.created_at > now() - ? * interval '1 minute') < ?
      ORDER BY min(o.created_at) LIMIT ?`,
    [DIGEST.windowMinutes, DIGEST.messages, limit],
  );
}

/** One message about everything of the kind that waits. */
export async function insertChatMessage(
  tx: Tx,
  id: string,
  { chatId, kind }: PendingChat,
): Promise<void> {
  const insert = 'INSERT INTO chat_messages (id, chat_id, kind) VALUES (?, ?, ?)';
  await tx.query(insert, [id, chatId, kind]);
  await tx.query(
    `UPDATE told_chats t SET message_id = ? FROM occasions o
      WHERE o.key = t.occasion_key AND t.message_id IS NULL AND t.chat_id = ? AND o.kind = ?`,
    [id, chatId, kind],
  );
}

export type ChatMessage = SealedSecret & {
  id: string;
  chatId: string;
  kind: ChatKind | 'test';
  status: MessageStatus;
  /** Whether the chat still has the kind of the message among its kinds. */
  isChosen: boolean;
  accountName: string | null;
  /** Null means the operators'. */
  mode: Mode | null;
};

export async function findChatMessage(db: Reader, id: string): Promise<ChatMessage | null> {
  const [found] = await db.query<ChatMessage>(
    `SELECT m.id, m.chat_id, m.kind, m.status, a.name AS account_name, c.mode,
            m.kind = 'test' OR m.kind = ANY (c.kinds) AS is_chosen,
            c.sealed, c.sealed_key_id AS key_id
       FROM chat_messages m JOIN chat_webhooks c ON c.id = m.chat_id
       LEFT JOIN accounts a ON a.id = c.account_id WHERE m.id = ?`,
    [id],
  );
  return found ?? null;
}

/** The number of attempts that a message has in all. */
const ATTEMPTS_MAX = 8;

/** The message becomes `sending`, or `refused` after the last attempt. */
export async function takeChatMessage(db: Db, id: string): Promise<MessageStatus | null> {
  const [taken] = await db.query<{ status: MessageStatus }>(
    `UPDATE chat_messages
        SET status = CASE WHEN attempts < ${ATTEMPTS_MAX} THEN 'sending' ELSE 'refused' END,
            attempts = least(attempts + 1, ${ATTEMPTS_MAX}), updated_at = clock_timestamp()
      WHERE id = ? AND status = 'waiting' RETURNING status`,
    [id],
  );
  return taken?.status ?? null;
}

/** Deletes messages after 30 days. */
export async function forgetChatMessages(db: Db, limit: number): Promise<void> {
  await db.query(
    `DELETE FROM chat_messages WHERE id IN (
       SELECT id FROM chat_messages WHERE created_at < now() - interval '30 days'
        ORDER BY created_at LIMIT ?)`,
    [limit],
  );
}
