/**
 * The chats of an account or of the operators: added with an address in Slack's format, notified of what was chosen
 * (decisions/notifications#chat-webhooks). The address and the secret of the signature are stored encrypted.
 */
import { randomBytes } from 'node:crypto';
import {
  type ChatOwner,
  type ChatWebhook,
  deleteChat,
  findChat,
  insertChat,
  insertTestMessage,
  listChats,
  replaceChatKinds,
} from '../../db/notifications/chat-webhooks';
import { type Db, lockByName } from '../../db/transaction';
import type { Mode } from '../../domain/mode';
import { type ChatKind, chatKindsOf } from '../../domain/notifications';
import { newId } from '../../platform/lib/new-id';
import type { SecretBox } from '../../platform/lib/secret-box';
import type { WebhookSender } from '../../adapters/webhooks/sender';
import { type ChangedBy, makeChange } from '../../kit/service/audit';
import { AdminRefusal, InputFaults, InvalidInput } from '../../kit/service/refusal';
import { checkName } from '../people/users';

export type { ChatOwner, ChatWebhook, ListedChat } from '../../db/notifications/chat-webhooks';

const CHATS_MAX = 5;

interface ChatTools {
  db: Db;
  webhookSender: WebhookSender;
  secretBox: SecretBox;
  /** The mode whose address rules apply to the chats of operators. */
  modeOfOperators: Mode;
  /** Whether addresses must begin with https://. */
  isProduction: boolean;
}

export type Chats = ReturnType<typeof createChats>;

export function createChats(tools: ChatTools) {
  const { db } = tools;
  return {
    list: (owner: ChatOwner) => listChats(db, owner),
    /** @returns the secret of the signature, which is not shown again @throws InvalidInput, AdminRefusal */
    add: (by: ChangedBy, owner: ChatOwner, wish: NewChat) => addChat(tools, by, owner, wish),
    /** @throws AdminRefusal */
    read: async (owner: ChatOwner, id: string): Promise<ChatWebhook> => {
      const found = await findChat(db, owner, id);
      if (found === null) throw notFound(id);
      return found;
    },
    /** Replaces what the chat is notified of. @throws InvalidInput, AdminRefusal */
    choose: async (by: ChangedBy, owner: ChatOwner, id: string, wanted: readonly string[]) => {
      const chosen = readKinds(owner, wanted);
      return makeChange(db, by, async (tx) => {
        const chat = await replaceChatKinds(tx, owner, id, chosen);
        if (chat === null) throw notFound(id);
        const before = { ...chat, kinds: chat.kindsBefore };
        return { result: undefined, audit: auditOf(owner, 'edit', id, before, chat) };
      });
    },
    /** @throws AdminRefusal */
    remove: (by: ChangedBy, owner: ChatOwner, id: string) =>
      makeChange(db, by, async (tx) => {
        const gone = await deleteChat(tx, owner, id);
        if (gone === null) throw notFound(id);
        return { result: undefined, audit: auditOf(owner, 'delete', id, gone, null) };
      }),
    /** Stores a test message, which a worker sends within seconds. @throws AdminRefusal */
    test: (owner: ChatOwner, id: string) =>
      db.transaction(async (tx) => {
        if (!(await insertTestMessage(tx, owner, id, newId('chatMessage')))) throw notFound(id);
      }),
  };
}

export interface NewChat {
  name: string;
  url: string;
  kinds: readonly string[];
}

async function addChat(
  { db, webhookSender, secretBox, modeOfOperators, isProduction }: ChatTools,
  by: ChangedBy,
  owner: ChatOwner,
  wish: NewChat,
): Promise<{ id: string; secret: string }> {
  const faults = new InputFaults();
  const name = (await faults.read(() => checkName(wish.name))) ?? '';
  const kinds = (await faults.read(() => readKinds(owner, wish.kinds))) ?? [];
  const checkUrl = async () => {
    const verdict = await webhookSender.check(wish.url.trim(), owner?.mode ?? modeOfOperators);
    if (!verdict.ok) {
      throw new InvalidInput('url', { code: 'url_refused', explanation: verdict.message });
    }
    if (!isProduction || verdict.url.startsWith('https:')) return verdict.url;
    const explanation = 'The URL must begin with https://.';
    throw new InvalidInput('url', { code: 'url_refused', explanation });
  };
  const url = (await faults.read(checkUrl)) ?? '';
  faults.refuse();
  const id = newId('chatWebhook');
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const chat = { id, name, hint: maskOf(url), kinds };
  return makeChange(db, by, async (tx) => {
    await lockByName(tx, 'chats', owner?.accountId ?? null, owner?.mode ?? null);
    if ((await listChats(tx, owner)).length >= CHATS_MAX) {
      throw new AdminRefusal({ code: 'too_many_chats', max: CHATS_MAX });
    }
    await insertChat(tx, owner, chat, secretBox.seal(JSON.stringify({ url, secret }), id));
    return { result: { id, secret }, audit: auditOf(owner, 'create', id, null, chat) };
  });
}

function readKinds(owner: ChatOwner, wanted: readonly string[]): ChatKind[] {
  const kinds = chatKindsOf(owner === null ? 'operator' : 'merchant').filter((kind) =>
    wanted.includes(kind),
  );
  if (kinds.length === 0) throw new InvalidInput('kinds', { code: 'empty' });
  return kinds;
}

/** The host and the last letters: enough to tell addresses apart, and not to use one. */
function maskOf(url: string): string {
  return `${new URL(url).host}/…${url.slice(-4)}`;
}

function notFound(id: string): AdminRefusal {
  return new AdminRefusal({ code: 'not_found', object: 'chat_webhook', id });
}

type Shown = Pick<ChatWebhook, 'name' | 'hint' | 'kinds'>;

function auditOf(
  owner: ChatOwner,
  verb: 'create' | 'edit' | 'delete',
  id: string,
  before: Shown | null,
  after: Shown | null,
) {
  const present = (chat: Shown | null) =>
    chat === null
      ? null
      : { object: 'chat_webhook', id, name: chat.name, hint: chat.hint, kinds: chat.kinds };
  return {
    object: 'chat_webhook',
    objectId: id,
    action: `chat_webhook.${verb}`,
    accountId: owner?.accountId ?? null,
    before: present(before),
    after: present(after),
  };
}
