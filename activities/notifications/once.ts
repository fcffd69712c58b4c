/**
 * Sends a message at most once. Before the server is asked, the row becomes `sending`; a call that finds it so
 * follows one that died in between, and does not send: the server may have taken the message.
 */
import {
  moveMessage,
  type MessageStatus,
  type MessageTable,
} from '../../src/db/notifications/messages';
import type { Db } from '../../src/db/transaction';
import type { MailOutcome } from '../../src/adapters/mail/sender';

interface Message {
  table: MessageTable;
  id: string;
  /** Null if there is no such message any more. */
  status: MessageStatus | null;
  /** Makes the row `sending`, and what sends it; or a status, when there is nothing to send. */
  take: () => Promise<MessageStatus | (() => Promise<MailOutcome>)>;
}

/** @returns the status that the message has now. @throws when it is sent again later */
export async function sendOnce(
  db: Db,
  { table, id, status, take }: Message,
): Promise<MessageStatus> {
  if (status === null) return 'dropped';
  if (status === 'sending') {
    const isLost = await moveMessage(db, table, id, ['sending', 'unclear'], 'worker_lost');
    return isLost ? 'unclear' : 'sent';
  }
  if (status !== 'waiting') return status;
  const send = await take();
  if (typeof send === 'string') return send;
  const outcome = await send();
  if (outcome.kind === 'sent') {
    await moveMessage(db, table, id, ['sending', 'sent']);
    return 'sent';
  }
  const next = outcome.kind === 'postponed' ? 'waiting' : outcome.kind;
  await moveMessage(db, table, id, ['sending', next], outcome.error);
  if (outcome.kind === 'postponed') throw new Error(`the message waits: ${outcome.error}`);
  return next;
}
