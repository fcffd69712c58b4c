/** Who is mailed, once for each occasion, and what the answers of the mail server lead to. */
import { addressNotifications } from '../../../activities/notifications/address';
import { sendNotification } from '../../../activities/notifications/send';
import { appendEvent, transactionOfEvents } from '../../../src/db/webhooks/events';
import type { EventType } from '../../../src/domain/events';
import { newId } from '../../../src/platform/lib/new-id';
import { makeUser } from '../../support/merchant/page-client';
import { notificationDeps } from '../notification-deps';
import { startMailServer } from '../../support/servers/mail-server';
import { startedNotifications } from './notifications-world';

const world = startedNotifications();

/** One key of an account with one world.owner, and the message about it. */
async function oneMessage() {
  const { account, user } = await world.newOwner();
  const key = await world.makeKey(account);
  const [id] = await addressNotifications(world.deps);
  return { account, user, key, id: id! };
}

const statusOf = async (id: string) =>
  (
    await world.owner.query<{ status: string }>('SELECT status FROM notifications WHERE id = ?', [
      id,
    ])
  )[0]!.status;

test('a created key is told to the owners of its account only, once, and without the secret', async () => {
  const { account, user, key, id } = await oneMessage();
  await makeUser(world.owner, 'merchant', 'viewer', account);
  expect(await sendNotification(world.deps, id)).toBe('sent');
  expect(world.server.mails).toHaveLength(1);
  const [mail] = world.server.mails;
  expect(mail!.to).toEqual([user.email]);
  expect(mail!.source).toContain(key.id);
  expect(mail!.source).toContain('https://pay.example/dashboard/test/keys');
  expect(mail!.source).not.toContain(key.secret);
  expect(mail!.source).not.toContain('sk_test_');

  // Running it again tells nobody again.
  expect(await addressNotifications(world.deps)).toEqual([]);
  expect(await sendNotification(world.deps, id)).toBe('sent');
  expect(world.server.mails).toHaveLength(1);
});

test('a payment received is told to whoever has chosen it; underpaid ones and failed refunds to the others too', async () => {
  const { account, user } = await world.newOwner();
  const emit = (type: EventType, objectId: string) =>
    transactionOfEvents(world.owner, (tx) => {
      const owned = { accountId: account, mode: 'live' as const, createdAt: new Date() };
      const body = Buffer.from('{}');
      appendEvent(tx, { id: newId('event'), type, objectId, sequence: 1, body, ...owned });
      return Promise.resolve();
    });
  const told = async () => {
    world.server.mails.length = 0;
    await world.deliver();
    return world.server.mails
      .map(({ source }) => /Subject: (.*) \(/.exec(source)?.[1]?.trim())
      .sort();
  };
  await emit('payment.completed', 'pay_1');
  await emit('payment.underpaid', 'pay_2');
  await emit('refund.failed', 're_1');
  expect(await told()).toEqual(['A payment was underpaid', 'A refund failed']);
  await world.owner.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email)
     VALUES (?, ?, 'payment_received', true)`,
    [user.id, account],
  );
  await emit('payment.completed', 'pay_3');
  expect(await told()).toEqual(['A payment was received']);
});

test('two accounts never see each other’s', async () => {
  const [one, two] = [await world.newOwner(), await world.newOwner()];
  const [first, second] = [await world.makeKey(one.account), await world.makeKey(two.account)];
  await world.deliver();
  const of = (email: string) => world.server.mails.filter(({ to }) => to.includes(email));
  expect(world.server.mails).toHaveLength(2);
  expect(of(one.user.email)[0]!.source).toContain(first.id);
  expect(of(one.user.email)[0]!.source).not.toContain(second.id);
  expect(of(two.user.email)[0]!.source).toContain(second.id);
  expect(of(two.user.email)[0]!.source).not.toContain(first.id);
});

test.each([
  ['disabled', 'UPDATE users SET disabled_at = now() WHERE id = ?'],
  ['removed from the account', 'DELETE FROM memberships WHERE user_id = ?'],
  ['given a lower role', `UPDATE memberships SET role = 'support' WHERE user_id = ?`],
])('a person who was %s after the occasion gets nothing', async (_, change) => {
  const { user, id } = await oneMessage();
  await world.owner.query(change, [user.id]);
  expect(await sendNotification(world.deps, id)).toBe('dropped');
  expect(world.server.mails).toEqual([]);
});

test('a person who has chosen not to be told of a kind gets nothing', async () => {
  const { account, user } = await world.newOwner();
  await world.makeKey(account);
  const [id] = await addressNotifications(world.deps);
  await world.owner.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email)
     VALUES (?, ?, 'key_created', false)`,
    [user.id, account],
  );
  await world.makeKey(account);
  expect(await sendNotification(world.deps, id!)).toBe('dropped');
  expect(await addressNotifications(world.deps)).toEqual([]);
  expect(world.server.mails).toEqual([]);
});

test('a server that refuses for now gets the mail later; one that refuses for good does not', async () => {
  const later = await oneMessage();
  world.server.refuseWith(450);
  await expect(sendNotification(world.deps, later.id)).rejects.toThrow('450');
  expect(await statusOf(later.id)).toBe('waiting');
  world.server.refuseWith(null);
  expect(await sendNotification(world.deps, later.id)).toBe('sent');
  expect(world.server.mails).toHaveLength(1);

  const never = await oneMessage();
  world.server.refuseWith(550);
  expect(await sendNotification(world.deps, never.id)).toBe('refused');
  world.server.refuseWith(null);
  expect(await sendNotification(world.deps, never.id)).toBe('refused');
  expect(world.server.mails).toHaveLength(1);
});

test('a server that is away gets the mail once when it is back', async () => {
  const { id } = await oneMessage();
  const away = await startMailServer();
  await away.stop();
  await expect(sendNotification(notificationDeps(world.worker, away), id)).rejects.toThrow(
    'the message waits',
  );
  expect(await sendNotification(world.deps, id)).toBe('sent');
  expect(world.server.mails).toHaveLength(1);
});

test('a call that follows one that died while it sent does not send again', async () => {
  const { id } = await oneMessage();
  // The second call comes while the server has the text and has not answered the first.
  let second: Promise<string> | undefined;
  world.server.beforeAnswer(async () => {
    second = sendNotification(world.deps, id);
    await second;
  });
  await sendNotification(world.deps, id);
  expect(await second).toBe('unclear');
  expect(await sendNotification(world.deps, id)).toBe('unclear');
  expect(world.server.mails).toHaveLength(1);
});

test('many occasions of a kind become three messages, and then one with their number', async () => {
  const { account, user } = await world.newOwner();
  const ids: string[] = [];
  for (let message = 0; message < 3; message += 1) {
    await world.makeKey(account);
    ids.push(...(await addressNotifications(world.deps)));
  }
  for (const id of ids) await sendNotification(world.deps, id);
  expect(world.server.mails).toHaveLength(3);

  for (let key = 0; key < 4; key += 1) await world.makeKey(account);
  expect(await addressNotifications(world.deps)).toEqual([]);
  const earlier = `UPDATE notifications SET created_at = created_at - interval '11 minutes' WHERE user_id = ?`;
  await world.owner.query(earlier, [user.id]);
  const [digest, ...others] = await addressNotifications(world.deps);
  expect(others).toEqual([]);
  await sendNotification(world.deps, digest!);
  expect(world.server.mails).toHaveLength(4);
  expect(world.server.mails[3]!.source).toContain('API keys created: 4');
});

test('without a mail server nobody is told, also not after one is set', async () => {
  const { account } = await world.newOwner();
  await world.makeKey(account);
  expect(await addressNotifications({ ...world.deps, mail: null })).toEqual([]);
  expect(await addressNotifications(world.deps)).toEqual([]);
});
