import type { NotificationDeps } from '../../activities/notifications/deps';
import type { Db } from '../../src/db/transaction';
import { createMailSender } from '../../src/adapters/mail/sender';
import type { MailServer } from '../support/servers/mail-server';

/** What the activities of messages get in a worker with this mail server. */
export function notificationDeps(db: Db, { url }: Pick<MailServer, 'url'>): NotificationDeps {
  const mail = createMailSender({
    smtpUrl: url,
    from: 'Payments <payments@example.com>',
    requiresTls: false,
  });
  const pages = {
    dashboard: 'https://pay.example/dashboard',
    console: 'https://ops.example/console',
  };
  return {
    ...{ db, mail, pages, lateAfter: { reviewMinutes: 60, doubtMinutes: 15 } },
    chatModeOfOperators: 'test',
  };
}
