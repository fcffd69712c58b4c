/** Decides who is notified of the new occasions, and makes the messages (decisions/notifications#notifications). */
import {
  addressChats,
  forgetChatMessages,
  insertChatMessage,
  listPendingChats,
} from '../../src/db/notifications/chat-messages';
import { forgetLinkMails } from '../../src/db/people/link-mails';
import { listWaiting } from '../../src/db/notifications/messages';
import {
  addressOccasion,
  forgetNotifications,
  insertNotification,
  listPending,
  listPeople,
  noteAddressed,
  noteWithTime,
  type Occasion,
  takeOccasions,
} from '../../src/db/notifications/notifications';
import type { Tx } from '../../src/db/transaction';
import { newId } from '../../src/platform/lib/new-id';
import type { NotificationDeps } from './deps';
import { isTold } from './recipient';

/** The rows of one run; the schedule runs again soon. */
const BATCH = 200;
const KEPT_BATCH = 2_000;

/** @returns the messages to send; those of people wait for a link, so they come first */
export async function addressNotifications({
  db,
  mail,
  lateAfter,
}: NotificationDeps): Promise<string[]> {
  await noteWithTime(db, lateAfter);
  await db.transaction(async (tx) => {
    const occasions = await takeOccasions(tx, BATCH);
    const keys = occasions.map(({ key }) => key);
    await addressChats(tx, keys);
    // Without a mail server nobody gets mail about these occasions, not even later.
    if (mail !== null) for (const occasion of occasions) await address(tx, occasion);
    await noteAddressed(tx, keys);
    for (const pending of await listPendingChats(tx, BATCH)) {
      await insertChatMessage(tx, newId('chatMessage'), pending);
    }
    if (mail === null) return;
    for (const pending of await listPending(tx, BATCH)) {
      await insertNotification(tx, newId('notification'), pending);
    }
  });
  await forgetNotifications(db, KEPT_BATCH);
  await forgetLinkMails(db, KEPT_BATCH);
  await forgetChatMessages(db, KEPT_BATCH);
  const chats = await listWaiting(db, 'chat_messages', BATCH);
  if (mail === null) return chats;
  const links = await listWaiting(db, 'link_mails', BATCH);
  return [...links, ...(await listWaiting(db, 'notifications', BATCH)), ...chats];
}

async function address(tx: Tx, occasion: Occasion): Promise<void> {
  for (const person of await listPeople(tx, occasion)) {
    if (person.id === occasion.makerId || !isTold(occasion, person)) continue;
    await addressOccasion(tx, occasion.key, person.id);
  }
}
