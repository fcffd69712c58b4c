import type { LateAfter } from '../../src/db/notifications/notifications';
import type { Mode } from '../../src/domain/mode';
import type { Db } from '../../src/db/transaction';
import type { MailSender } from '../../src/adapters/mail/sender';

export interface NotificationDeps {
  db: Db;
  /** Null if there is no mail server, and nobody is notified by mail. */
  mail: MailSender | null;
  /** The addresses at which people open the pages. */
  pages: { dashboard: string; console: string };
  lateAfter: LateAfter;
  /** The rules for the addresses of the operators' chats. */
  chatModeOfOperators: Mode;
}

/** The same for each attempt. */
export function messageIdOf(id: string, site: string): string {
  return `<${id}@${new URL(site).hostname}>`;
}
