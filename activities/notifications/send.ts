/**
 * Sends one message at most once. Before the server is asked, the row becomes `sending`; a call that finds it so
 * follows one that died in between, and does not send: the server may have taken the mail.
 */
import { findAccount } from '../../src/db/repositories/accounts';
import {
  findNotification,
  listPeople,
  listTold,
  moveNotification,
  type Notification,
  type Occasion,
} from '../../src/db/repositories/notifications';
import type { Db } from '../../src/db/transaction';
import { NOTIFICATIONS } from '../../src/domain/notifications';
import { renderNotification } from '../../src/mail/render';
import type { Mail, MailSender } from '../../src/mail/sender';
import { isTold } from './recipient';

export interface NotificationDeps {
  db: Db;
  /** Null: there is no mail server, and nobody is told anything. */
  mail: MailSender | null;
  /** Where people open the pages. */
  pages: { dashboard: string; console: string };
}

/** @returns the status that the message has now. @throws when it is sent again later */
export async function sendNotification(deps: NotificationDeps, id: string): Promise<string> {
  const { db, mail } = deps;
  const notification = await findNotification(db, id);
  if (notification === null || mail === null) return 'dropped';
  if (notification.status === 'sending') {
    const isLost = await moveNotification(db, id, ['sending', 'unclear'], 'worker_lost');
    return isLost ? 'unclear' : 'sent';
  }
  if (notification.status !== 'waiting') return notification.status;
  const message = await compose(deps, notification);
  if (message === null) {
    await moveNotification(db, id, ['waiting', 'dropped']);
    return 'dropped';
  }
  if (!(await moveNotification(db, id, ['waiting', 'sending']))) return 'sending';
  const outcome = await mail.send(message);
  if (outcome.kind === 'sent') {
    await moveNotification(db, id, ['sending', 'sent']);
    return 'sent';
  }
  const next = outcome.kind === 'postponed' ? 'waiting' : outcome.kind;
  await moveNotification(db, id, ['sending', next], outcome.error);
  if (outcome.kind === 'postponed') throw new Error(`the mail waits: ${outcome.error}`);
  return next;
}

/** Null: the person may not know it any more, or has chosen not to. */
async function compose(
  { db, pages }: NotificationDeps,
  { id, userId, accountId, kind }: Notification,
): Promise<Mail | null> {
  const [person] = await listPeople(db, { kind, accountId, userId });
  if (person === undefined || !isTold({ kind }, person)) return null;
  const site = person.kind === 'merchant' ? pages.dashboard : pages.console;
  const told = (await listTold(db, id)).map((one) => ({
    objectId: one.objectId,
    url: `${site}${pathOf(one)}`,
  }));
  const account = accountId === null ? null : ((await findAccount(db, accountId))?.name ?? null);
  const choicesUrl = `${site}/notifications`;
  const letter = renderNotification(NOTIFICATIONS[kind], told, { account, choicesUrl });
  return { ...letter, to: person.email, messageId: `<${id}@${new URL(site).hostname}>` };
}

function pathOf({ kind, mode, objectId }: Occasion): string {
  const path = NOTIFICATIONS[kind].path.replace(':id', objectId);
  return mode === null ? path : `/${mode}${path}`;
}
