/** Decides who is told of the new occasions, and makes the messages (decisions/notifications). */
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
} from '../../src/db/repositories/notifications';
import { forgetLinkMails } from '../../src/db/repositories/link-mails';
import { listWaiting } from '../../src/db/repositories/messages';
import type { Tx } from '../../src/db/transaction';
import { newId } from '../../src/lib/new-id';
import type { NotificationDeps } from './deps';
import { isTold } from './recipient';

/** The rows of one run; the schedule runs again soon. */
const BATCH = 200;
const KEPT_BATCH = 2_000;

/** @returns the messages to send */
export async function addressNotifications({
  db,
  mail,
  lateAfter,
}: NotificationDeps): Promise<string[]> {
  await noteWithTime(db, lateAfter);
  await db.transaction(async (tx) => {
    const occasions = await takeOccasions(tx, BATCH);
    // Without a mail server nobody is told, also not later.
    if (mail !== null) for (const occasion of occasions) await address(tx, occasion);
    await noteAddressed(
      tx,
      occasions.map(({ key }) => key),
    );
    if (mail === null) return;
    for (const pending of await listPending(tx, BATCH)) {
      await insertNotification(tx, newId('notification'), pending);
    }
  });
  await forgetNotifications(db, KEPT_BATCH);
  await forgetLinkMails(db, KEPT_BATCH);
  if (mail === null) return [];
  // People wait for links.
  const links = await listWaiting(db, 'link_mails', BATCH);
  return [...links, ...(await listWaiting(db, 'notifications', BATCH))];
}

async function address(tx: Tx, occasion: Occasion): Promise<void> {
  for (const person of await listPeople(tx, occasion)) {
    if (person.id === occasion.makerId || !isTold(occasion, person)) continue;
    await addressOccasion(tx, occasion.key, person.id);
  }
}
