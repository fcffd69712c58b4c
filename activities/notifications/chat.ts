/**
 * Sends one message to a chat, through the sender of webhooks and with its signature (decisions/notifications#chat-webhooks).
 */
import {
  type ChatMessage,
  findChatMessage,
  takeChatMessage,
} from '../../src/db/notifications/chat-messages';
import { listTold } from '../../src/db/notifications/notifications';
import { moveMessage } from '../../src/db/notifications/messages';
import { NOTIFICATIONS } from '../../src/domain/notifications';
import {
  type ChatMessageBody,
  renderChatMessage,
  renderTestMessage,
} from '../../src/adapters/mail/chat';
import type { MailOutcome } from '../../src/adapters/mail/sender';
import type { AttemptResult } from '../../src/adapters/webhooks/sender';
import type { WebhookDeliveryDeps } from '../webhook-delivery/attempt';
import type { NotificationDeps } from './deps';
import { sendOnce } from './once';
import { linkOf } from './send';

export type ChatDeps = Pick<NotificationDeps, 'db' | 'pages' | 'chatModeOfOperators'> &
  Pick<WebhookDeliveryDeps, 'webhookSender' | 'secretBox'>;

/** @returns the status that the message has now. @throws when it is sent again later */
export async function sendChatMessage(deps: ChatDeps, id: string): Promise<string> {
  const { db, secretBox, webhookSender, chatModeOfOperators } = deps;
  const message = await findChatMessage(db, id);
  return sendOnce(db, {
    table: 'chat_messages',
    id,
    status: message?.status ?? null,
    take: async () => {
      if (message === null) return 'dropped';
      if (!message.isChosen) {
        await moveMessage(db, 'chat_messages', id, ['waiting', 'dropped']);
        return 'dropped';
      }
      const body = await compose(deps, message);
      const { url, secret } = JSON.parse(secretBox.open(message, message.chatId)) as {
        url: string;
        secret: string;
      };
      const status = await takeChatMessage(db, id);
      if (status !== 'sending') return status ?? 'sending';
      const mode = message.mode ?? chatModeOfOperators;
      const event = { eventType: 'notification', eventId: id };
      const request = { url, secret, signature: 'gateway' as const, mode, ...event };
      const bytes = Buffer.from(JSON.stringify(body));
      return async () => outcomeOf(await webhookSender.send({ ...request, body: bytes }));
    },
  });
}

async function compose(
  { db, pages }: ChatDeps,
  { id, kind, accountName, mode }: ChatMessage,
): Promise<ChatMessageBody> {
  const where = accountName === null ? null : `${accountName}, ${mode ?? ''}`;
  if (kind === 'test') return renderTestMessage(where);
  const site = accountName === null ? pages.console : pages.dashboard;
  const occasions = await listTold(db, 'told_chats', id);
  const told = occasions.map((one) => linkOf(site, one));
  return renderChatMessage(NOTIFICATIONS[kind], told, where);
}

/** With these errors, nothing of the message was sent. */
const NOT_SENT = ['url_blocked', 'dns_error', 'connect_refused', 'connect_timeout', 'tls_error'];

/** An answer decides; without one, whether the request was sent. */
function outcomeOf({ outcome, status, errorCode }: AttemptResult): MailOutcome {
  if (outcome === 'succeeded') return { kind: 'sent' };
  const error = status === null ? (errorCode ?? 'failed') : String(status);
  if (status !== null) {
    const isLater = status === 408 || status === 429 || status >= 500;
    return { kind: isLater ? 'postponed' : 'refused', error };
  }
  return { kind: NOT_SENT.includes(error) ? 'postponed' : 'unclear', error };
}
