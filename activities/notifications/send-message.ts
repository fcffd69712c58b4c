import { isId } from '../../src/domain/ids';
import type { NotificationDeps } from './deps';
import { sendLinkMail } from './link-mail';
import { sendNotification } from './send';

/** Sends a mail of any kind. @throws when it is sent again later */
export function sendMessage(deps: NotificationDeps, id: string): Promise<string> {
  return isId('linkMail', id) ? sendLinkMail(deps, id) : sendNotification(deps, id);
}
