/**
 * Sends an invitation, the reset of a password, or the link with which a customer names an address
 * (decisions/notifications#link-mails). Each attempt makes a token of its own,
 * which only the mail has: one that was not sent works nowhere.
 */
import { createHash, randomBytes } from 'node:crypto';
import { findLinkMailStatus, type LinkMail, takeLinkMail } from '../../src/db/people/link-mails';
import type { Mail } from '../../src/adapters/mail/sender';
import { renderInvitation, renderRefundLink, renderReset } from '../../src/adapters/mail/render';
import { messageIdOf, type NotificationDeps } from './deps';
import { sendOnce } from './once';

export async function sendLinkMail(
  { db, mail, pages }: NotificationDeps,
  id: string,
): Promise<string> {
  if (mail === null) return 'dropped';
  return sendOnce(db, {
    table: 'link_mails',
    id,
    status: await findLinkMailStatus(db, id),
    take: async () => {
      const token = randomBytes(32).toString('base64url');
      const taken = await takeLinkMail(db, id, createHash('sha256').update(token).digest());
      if (taken === null) return 'dropped';
      const site = taken.kind === 'operator' ? pages.console : pages.dashboard;
      const letter = { ...compose(taken, site, token), messageId: messageIdOf(id, site) };
      return () => mail.send(letter);
    },
  });
}

function compose(
  { kind, email, accountName, role, invitedBy }: LinkMail,
  site: string,
  token: string,
): Omit<Mail, 'messageId'> {
  if (kind === 'customer') {
    const url = `${site}/refund-address?token=${token}`;
    return { ...renderRefundLink({ shop: accountName ?? '', url }), to: email };
  }
  const where = accountName ?? (kind === 'merchant' ? 'the dashboard' : 'the operator console');
  const letter =
    role === null
      ? renderReset({ where, url: `${site}/reset-password?token=${token}` })
      : renderInvitation({
          ...{ where, role, invitedBy: invitedBy ?? '' },
          url: `${site}/invitation?token=${token}`,
        });
  return { ...letter, to: email };
}
