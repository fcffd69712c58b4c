/** Sends one message to a person about occasions of a kind. */
import { findAccount } from '../../src/db/accounts/accounts';
import { moveMessage } from '../../src/db/notifications/messages';
import {
  findNotification,
  listPeople,
  listTold,
  type Notification,
  type ToldOccasion,
} from '../../src/db/notifications/notifications';
import { isAlwaysTold, NOTIFICATIONS } from '../../src/domain/notifications';
import { type Link, renderNotification } from '../../src/adapters/mail/render';
import type { Mail } from '../../src/adapters/mail/sender';
import { messageIdOf, type NotificationDeps } from './deps';
import { sendOnce } from './once';
import { isTold } from './recipient';
import { statementFiles } from './statement-files';

/** @returns the status that the message has now. @throws when it is sent again later */
export async function sendNotification(deps: NotificationDeps, id: string): Promise<string> {
  const { db, mail } = deps;
  const notification = await findNotification(db, id);
  if (notification === null || mail === null) return 'dropped';
  return sendOnce(db, {
    table: 'notifications',
    id,
    status: notification.status,
    take: async () => {
      const message = await compose(deps, notification);
      if (message === null) {
        await moveMessage(db, 'notifications', id, ['waiting', 'dropped']);
        return 'dropped';
      }
      const isOurs = await moveMessage(db, 'notifications', id, ['waiting', 'sending']);
      return isOurs ? () => mail.send(message) : 'sending';
    },
  });
}

/** Null if the person may not know it any more, or has chosen not to. */
async function compose(
  { db, pages }: NotificationDeps,
  { id, userId, accountId, kind }: Notification,
): Promise<Mail | null> {
  const [person] = await listPeople(db, { kind, accountId, userId });
  if (person === undefined || !isTold({ kind }, person)) return null;
  const site = person.kind === 'merchant' ? pages.dashboard : pages.console;
  const occasions = await listTold(db, 'told_occasions', id);
  const told = occasions.map((one) => linkOf(site, one));
  const account = accountId === null ? null : await findAccount(db, accountId);
  const choicesUrl = isAlwaysTold(kind) ? null : `${site}/notifications`;
  const letter = renderNotification(NOTIFICATIONS[kind], told, {
    account: account?.name ?? null,
    choicesUrl,
  });
  const attachments =
    account === null
      ? []
      : await statementFiles(db, { ...account, issuer: new URL(site).host }, occasions);
  return { ...letter, to: person.email, messageId: messageIdOf(id, site), attachments };
}

/** The page of what happened, with the money and the id of the object. */
export function linkOf(site: string, { kind, mode, objectId, money }: ToldOccasion): Link {
  const path = NOTIFICATIONS[kind].path.replace(':id', objectId);
  const url = mode === null ? `${site}${path}` : `${site}/${mode}${path}`;
  return { label: money === null ? objectId : `${money} (${objectId})`, url };
}
