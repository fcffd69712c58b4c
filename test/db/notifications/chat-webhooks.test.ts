/**
 * Chats with a real database and a real HTTP receiver: who is told, with which signature, at most once, and what
 * nobody sees of the address.
 */
import { createHmac } from 'node:crypto';
import { addressNotifications } from '../../../activities/notifications/address';
import { type ChatDeps, sendChatMessage } from '../../../activities/notifications/chat';
import { connect } from '../../../src/db/connect';
import type { ChatOwner } from '../../../src/db/notifications/chat-webhooks';
import { openCase } from '../../../src/db/cases/cases';
import type { Db } from '../../../src/db/transaction';
import { createSecretBox, type SecretBox } from '../../../src/platform/lib/secret-box';
import { resealSecrets } from '../../../src/features/webhooks/secrets';
import { createKey } from '../../../src/features/api-keys/api-keys';
import { createChats, type Chats } from '../../../src/features/notifications/chats';
import { createWebhookSender, type WebhookSender } from '../../../src/adapters/webhooks/sender';
import { makeAccount } from '../../support/merchant/ledger';
import { makeUser } from '../../support/merchant/page-client';
import { notificationDeps } from '../notification-deps';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import {
  answer,
  type Behaviour,
  RECEIVER_ADDRESS,
  type RawReceiver,
  startReceiver,
} from '../../support/webhook/raw-receiver';
import { RECEIVER_ALLOWED } from '../../support/webhook/sender-steps';

const PEPPER = 'pepper-'.repeat(6);
const BY = { actor: 'ada@example.com', reason: null };
const KEY = { name: 'Shop', scopes: ['payments:read' as const], allow: [] };
const NO_RULES = { currencies: [], payoutMax: [], dailyMax: [] };
const OK = answer('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
const OLD_KEY = 'an encryption key of the tests';

let database: TestDatabase;
let owner: Db;
let worker: Db;
let pages: Db;
let receiver: RawReceiver;
let behave: Behaviour = OK;
let sender: WebhookSender;
let box: SecretBox;
let chats: Chats;
let deps: ChatDeps & Parameters<typeof addressNotifications>[0];

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 4, applicationName: 'chats-test' });
  owner = open(database.ownerUrl);
  worker = open(database.workerUrl);
  pages = open(database.dashboardUrl);
  receiver = await startReceiver((socket) => {
    behave(socket);
  });
  sender = createWebhookSender(RECEIVER_ALLOWED);
  box = createSecretBox(OLD_KEY, []);
  chats = chatsOf(false);
  deps = {
    ...notificationDeps(worker, { url: 'smtp://127.0.0.1:1' }),
    ...{ mail: null, webhookSender: sender, secretBox: box },
  };
});

afterAll(async () => {
  await Promise.all([sender.close(), receiver.close()]);
  await Promise.all([owner.destroy(), worker.destroy(), pages.destroy()]);
  await database.drop();
});

beforeEach(() => {
  behave = OK;
  receiver.received.length = 0;
});

const chatsOf = (isProduction: boolean) =>
  createChats({
    ...{ db: pages, webhookSender: sender, secretBox: box, isProduction },
    modeOfOperators: 'test',
  });

const urlOf = (path: string) => `http://${RECEIVER_ADDRESS}:${receiver.port}${path}`;

let paths = 0;
async function addChat(to: ChatOwner, kinds: string[]) {
  const path = `/services/T0/B0/secret${(paths += 1)}`;
  const added = await chats.add(BY, to, { name: 'Payments', url: urlOf(path), kinds });
  return { ...added, path };
}

const ownerOf = async (mode: 'test' | 'live' = 'test') => ({
  accountId: await makeAccount(owner),
  mode,
});

const makeKey = ({ accountId, mode }: NonNullable<ChatOwner>) =>
  createKey.make(
    owner,
    BY,
    { accountId, mode, pepper: PEPPER },
    {
      ...KEY,
      ...NO_RULES,
    },
  );

interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** What came to a chat's address. */
function receivedAt(path: string): Received[] {
  return receiver.received
    .map((text) => {
      const [head = '', ...rest] = text.split('\r\n\r\n');
      const [line = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(
        lines.map((one) => [one.split(': ')[0]!.toLowerCase(), one.slice(one.indexOf(': ') + 2)]),
      );
      const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString('utf8');
      return { path: line.split(' ')[1]!, headers, body };
    })
    .filter((one) => one.path === path);
}

/** What the schedule does. @returns the statuses of the messages */
async function deliver(): Promise<string[]> {
  const ids = await addressNotifications(deps);
  const statuses: string[] = [];
  for (const id of ids) {
    statuses.push(await sendChatMessage(deps, id).catch((error: unknown) => String(error)));
  }
  return statuses;
}

test('a chat is told what it has chosen, once, in Slack’s format and with the signature of webhooks', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  const key = await makeKey(account);
  expect(await deliver()).toEqual(['sent']);
  expect(await deliver()).toEqual([]);
  const [message, ...others] = receivedAt(chat.path);
  expect(others).toEqual([]);
  const { headers, body } = message!;
  expect(headers['x-gateway-event']).toBe('notification');
  const timestamp = headers['x-gateway-timestamp']!;
  const signature = createHmac('sha256', chat.secret).update(`${timestamp}.${body}`).digest('hex');
  expect(headers['x-gateway-signature']).toBe(`t=${timestamp},v1=${signature}`);
  expect(JSON.parse(body)).toEqual({
    text: expect.stringContaining('An API key was created (') as string,
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: expect.stringContaining(', test)') as string },
      },
      {
        type: 'section',
        text: { type: 'mrkdwn', text: expect.stringContaining('revoke it now') as string },
      },
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: `<https://pay.example/dashboard/test/keys|${key.id}>`,
        },
      },
    ],
  });
  expect(body).not.toContain(key.secret);
});

test('other accounts, the other mode, other kinds, sign-ins and the operators are told to nobody else', async () => {
  const [one, other] = [await ownerOf(), await ownerOf()];
  const theirs = await addChat(other, ['key_created']);
  // The receiver has no certificate, which an address of live mode needs.
  const live = await addChat(one, ['key_created']);
  await owner.query(`UPDATE chat_webhooks SET mode = 'live' WHERE id = ?`, [live.id]);
  const failures = await addChat(one, ['payout_failed']);
  const operators = await addChat(null, ['case_opened']);
  await makeKey(one);
  expect(await deliver()).toEqual([]);
  await openCase(worker, 'unknown_transfer', 'tx_1', { amount: '1' });
  expect(await deliver()).toEqual(['sent']);
  expect(receivedAt(operators.path)).toHaveLength(1);
  for (const { path } of [theirs, live, failures]) expect(receivedAt(path)).toEqual([]);

  // Neither can they use or remove it, or see it.
  for (const stranger of [other, { ...one, mode: 'live' as const }, null]) {
    await expect(chats.test(stranger, failures.id)).rejects.toThrow('does not exist');
    await expect(chats.remove(BY, stranger, failures.id)).rejects.toThrow('does not exist');
    await expect(chats.read(stranger, failures.id)).rejects.toThrow('does not exist');
    const kind = stranger === null ? 'case_opened' : 'key_created';
    await expect(chats.choose(BY, stranger, failures.id, [kind])).rejects.toThrow('does not exist');
    expect((await chats.list(stranger)).map(({ id }) => id)).not.toContain(failures.id);
  }
  await expect(addChat(one, ['new_sign_in'])).rejects.toThrow('Enter a value');
  await expect(addChat(one, ['case_opened'])).rejects.toThrow('Enter a value');
});

test('a test message comes at once, and nothing after the chat was removed', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  await chats.test(account, chat.id);
  expect(await deliver()).toEqual(['sent']);
  expect(JSON.parse(receivedAt(chat.path)[0]!.body)).toMatchObject({
    text: expect.stringContaining('Test message') as string,
  });
  const [listed] = await chats.list(account);
  expect(listed).toMatchObject({ lastStatus: 'sent', lastError: null });
  await chats.test(account, chat.id);
  const [id] = await addressNotifications(deps);
  await chats.remove(BY, account, chat.id);
  expect(await sendChatMessage(deps, id!)).toBe('dropped');
  await makeKey(account);
  expect(await deliver()).toEqual([]);
  expect(receivedAt(chat.path)).toHaveLength(1);
});

test('what a chat is told can be changed, also for what waits to be sent', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['payout_failed']);
  await makeKey(account);
  expect(await deliver()).toEqual([]);
  await chats.choose(BY, account, chat.id, ['key_created']);
  expect(await chats.read(account, chat.id)).toMatchObject({ kinds: ['key_created'] });
  await makeKey(account);
  expect(await deliver()).toEqual(['sent']);
  await makeKey(account);
  const [id] = await addressNotifications(deps);
  await chats.choose(BY, account, chat.id, ['payout_failed', 'endpoint_failing']);
  expect(await sendChatMessage(deps, id!)).toBe('dropped');
  expect(await deliver()).toEqual([]);
  expect(receivedAt(chat.path)).toHaveLength(1);

  for (const kinds of [[], ['case_opened'], ['new_sign_in']]) {
    await expect(chats.choose(BY, account, chat.id, kinds)).rejects.toThrow('Enter a value');
  }
  const audited = await owner.query(
    `SELECT before->'kinds' AS before, after->'kinds' AS after FROM audit_log
      WHERE action = 'chat_webhook.edit' AND object_id = ? ORDER BY id`,
    [chat.id],
  );
  expect(audited).toEqual([
    { before: ['payout_failed'], after: ['key_created'] },
    { before: ['key_created'], after: ['payout_failed', 'endpoint_failing'] },
  ]);
});

test('the address is shown masked, is in no row and no audit entry, and is read by the worker alone', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  const [listed] = await chats.list(account);
  expect(listed!.hint).toBe(`${RECEIVER_ADDRESS}:${receiver.port}/…${chat.path.slice(-4)}`);
  for (const table of ['chat_webhooks', 'audit_log']) {
    const rows = JSON.stringify(await owner.query(`SELECT * FROM ${table}`));
    expect(rows).not.toContain('/services/');
    expect(rows).not.toContain(chat.secret);
  }
  await expect(pages.query('SELECT sealed FROM chat_webhooks')).rejects.toThrow('permission');
});

test('private addresses, and in production http, are refused', async () => {
  const account = await ownerOf();
  const wish = { name: 'Chat', kinds: ['key_created'] };
  const add = (at: Chats, url: string) => at.add(BY, account, { ...wish, url });
  for (const url of [
    'http://10.0.0.1/x',
    'http://169.254.169.254/latest',
    'ftp://a.example/',
    'x',
  ]) {
    await expect(add(chats, url)).rejects.toThrow();
  }
  await expect(add(chatsOf(true), urlOf('/x'))).rejects.toThrow('https://');
  expect(await chats.list(account)).toEqual([]);
});

test('an account adds at most five, also at the same time', async () => {
  const account = await ownerOf();
  const added = await Promise.allSettled(
    Array.from({ length: 8 }, () => addChat(account, ['key_created'])),
  );
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
});

test('a busy receiver is asked again, eight times in all; one that refuses is not', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  await chats.test(account, chat.id);
  behave = answer('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n');
  const [id] = await addressNotifications(deps);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    await expect(sendChatMessage(deps, id!)).rejects.toThrow('503');
  }
  expect(await sendChatMessage(deps, id!)).toBe('refused');
  expect(receivedAt(chat.path)).toHaveLength(8);

  await chats.test(account, chat.id);
  behave = answer('HTTP/1.1 404 no_service\r\nContent-Length: 0\r\n\r\n');
  expect(await deliver()).toEqual(['refused']);
  expect(await deliver()).toEqual([]);
  expect((await chats.list(account))[0]).toMatchObject({ lastStatus: 'refused', lastError: '404' });
});

test('a message whose answer was lost is not sent again', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  await chats.test(account, chat.id);
  behave = (socket) => {
    socket.destroy();
  };
  expect(await deliver()).toEqual(['unclear']);
  behave = OK;
  expect(await deliver()).toEqual([]);
  expect(receivedAt(chat.path)).toHaveLength(1);
});

test('a call that follows one that died while it sent does not send again', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  await chats.test(account, chat.id);
  const [id] = await addressNotifications(deps);
  let second: Promise<string> | undefined;
  behave = (socket) => {
    second = sendChatMessage(deps, id!);
    void second.then(() => {
      OK(socket);
    });
  };
  await sendChatMessage(deps, id!);
  expect(await second).toBe('unclear');
  behave = OK;
  expect(await sendChatMessage(deps, id!)).toBe('unclear');
  expect(receivedAt(chat.path)).toHaveLength(1);
});

test('many occasions of a kind become three messages, and then one with their number', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  for (let message = 0; message < 3; message += 1) {
    await makeKey(account);
    expect(await deliver()).toEqual(['sent']);
  }
  for (let key = 0; key < 4; key += 1) await makeKey(account);
  expect(await deliver()).toEqual([]);
  await owner.query(
    `UPDATE chat_messages SET created_at = created_at - interval '11 minutes' WHERE chat_id = ?`,
    [chat.id],
  );
  expect(await deliver()).toEqual(['sent']);
  expect(receivedAt(chat.path)[3]!.body).toContain('API keys created: 4');
});

test('what somebody named an account is no mention and no link', async () => {
  const account = await ownerOf();
  await owner.query('UPDATE accounts SET name = ? WHERE id = ?', [
    '<!channel> & Co',
    account.accountId,
  ]);
  const chat = await addChat(account, ['key_created']);
  await chats.test(account, chat.id);
  await deliver();
  const { text } = JSON.parse(receivedAt(chat.path)[0]!.body) as { text: string };
  expect(text).toBe('Test message (&lt;!channel&gt; &amp; Co, test)');
});

test('a new encryption key takes the addresses with it', async () => {
  const account = await ownerOf();
  const chat = await addChat(account, ['key_created']);
  await makeUser(owner, 'merchant', 'owner', account.accountId);
  const next = createSecretBox('another encryption key', [OLD_KEY]);
  const admin = connect({ url: database.adminUrl, size: 1, applicationName: 'chats-test' });
  await resealSecrets(admin, { ...BY, reason: 'yearly' }, next, () => undefined);
  await admin.destroy();
  await chats.test(account, chat.id);
  const [id] = await addressNotifications(deps);
  const alone = createSecretBox('another encryption key', []);
  expect(await sendChatMessage({ ...deps, secretBox: alone }, id!)).toBe('sent');
});
