/** The words of a notification as a chat message, in the format of Slack's incoming webhooks. */
import { NAMED_MAX, type NotificationKind } from '../../domain/notifications';
import type { Link } from './render';

interface Block {
  type: 'header' | 'section';
  text: { type: 'plain_text' | 'mrkdwn'; text: string };
}

export interface ChatMessageBody {
  /** The message for previews, and for programs that show no blocks. */
  text: string;
  blocks: Block[];
}

/** @param where the account and mode; null for operators */
export function renderChatMessage(
  kind: NotificationKind,
  told: readonly Link[],
  where: string | null,
): ChatMessageBody {
  const what = told.length === 1 ? kind.subject : `${kind.title}: ${told.length}`;
  const title = where === null ? what : `${what} (${where})`;
  const named = told.slice(0, NAMED_MAX);
  const more = told.length - named.length;
  const links = named.map(({ label, url }) => `<${url}|${escape(label)}>`);
  return messageOf(title, [
    escape(kind.text),
    [...links, ...(more === 0 ? [] : [`And ${more} more.`])].join('\n'),
  ]);
}

export function renderTestMessage(where: string | null): ChatMessageBody {
  const title = where === null ? 'Test message' : `Test message (${where})`;
  return messageOf(title, ['The payments gateway can send messages to this chat.']);
}

function messageOf(title: string, sections: readonly string[]): ChatMessageBody {
  return {
    text: escape(title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title.slice(0, HEADER_LENGTH_MAX) } },
      ...sections.map((text): Block => ({ type: 'section', text: { type: 'mrkdwn', text } })),
    ],
  };
}

/** Slack refuses a longer header. */
const HEADER_LENGTH_MAX = 150;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Slack reads links and mentions between < and >. */
const escape = (text: string): string => text.replace(/[&<>]/g, (one) => ENTITIES[one] ?? one);
