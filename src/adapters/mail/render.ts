/** The words of a mail: plain text, and HTML that is light in every mail program. */
import { NAMED_MAX, type NotificationKind } from '../../domain/notifications';
import { INVITATION_DAYS } from '../../domain/users';

export interface Letter {
  subject: string;
  text: string;
  html: string;
}

export interface Link {
  label: string;
  url: string;
}

/**
 * @param account the name of the account; null for operators
 * @param choicesUrl where the person chooses the notifications; null if there is no choice
 */
export function renderNotification(
  kind: NotificationKind,
  told: readonly Link[],
  { account, choicesUrl }: { account: string | null; choicesUrl: string | null },
): Letter {
  const what = told.length === 1 ? kind.subject : `${kind.title}: ${told.length}`;
  const named = told.slice(0, NAMED_MAX);
  const more = told.length - named.length;
  return render({
    subject: account === null ? what : `${what} (${account})`,
    text: kind.text,
    links: named,
    more: more === 0 ? [] : [`And ${more} more.`],
    ...(choicesUrl === null
      ? {
          why: 'This message is about your sign-in to the payments gateway and cannot be turned off.',
        }
      : {
          why: 'You get this message because of your choices in the payments gateway:',
          choices: { label: 'Notifications', url: choicesUrl },
        }),
  });
}

const UNEXPECTED = 'If you do not know what this is about, do nothing.';

export function renderInvitation({
  where,
  role,
  invitedBy,
  url,
}: {
  where: string;
  role: string;
  invitedBy: string;
  url: string;
}): Letter {
  return render({
    subject: `Invitation to ${where}`,
    text: `${invitedBy} invites you to ${where} as ${role}. Open the link to accept. It works once, and for ${INVITATION_DAYS} days.`,
    links: [{ label: 'Accept the invitation', url }],
    more: [],
    why: UNEXPECTED,
  });
}

export function renderReset({ where, url }: { where: string; url: string }): Letter {
  return render({
    subject: 'Choose a new password',
    text: `Somebody asked for a new password for ${where}. Open the link within 30 minutes to choose it. It works once. Until then your password stays as it is.`,
    links: [{ label: 'Choose a new password', url }],
    more: [],
    why: 'If you did not ask for it, do nothing.',
  });
}

/** The mail to a customer, who has no user here and knows only the shop. */
export function renderRefundLink({ shop, url }: { shop: string; url: string }): Letter {
  return render({
    subject: `Your refund from ${shop}`,
    text: `${shop} sends you money back. Open the link to enter the address that it goes to. It works once.`,
    links: [{ label: 'Enter the address', url }],
    more: ['We never ask for a password, a recovery phrase or a payment.'],
    why: 'If you do not know what this is about, do nothing.',
  });
}

interface Parts {
  subject: string;
  text: string;
  links: readonly Link[];
  more: readonly string[];
  why: string;
  choices?: Link;
}

const BUTTON =
  ' style="display:inline-block;padding:10px 16px;background:#1a1f36;color:#fff;border-radius:6px;text-decoration:none"';

function render({ subject, text, links, more, why, choices }: Parts): Letter {
  const plain = [
    text,
    ...links.map(({ label, url }) => `${label}\n${url}`),
    ...more,
    choices === undefined ? why : `${why}\n${choices.url}`,
  ].join('\n\n');
  const anchor = ({ label, url }: Link, style = '') =>
    `<a href="${escape(url)}"${style}>${escape(label)}</a>`;
  const [first] = links;
  const list =
    first !== undefined && links.length === 1
      ? `<p>${anchor(first, BUTTON)}</p>`
      : `<ul>\n${links.map((link) => `<li>${anchor(link)}</li>`).join('\n')}\n</ul>`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(subject)}</title></head>
<body style="margin:0;padding:24px;background:#f6f7f9;color:#1a1f36;font:15px/1.5 system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border:1px solid #e3e8ee;border-radius:8px">
<h1 style="margin:0 0 12px;font-size:19px">${escape(subject)}</h1>
<p>${escape(text)}</p>
${list}
${more.map((line) => `<p>${escape(line)}</p>\n`).join('')}<p style="color:#5a6275;font-size:13px">${escape(why)}${choices === undefined ? '' : ` ${anchor(choices)}`}</p>
</div></body></html>
`;
  return { subject, text: `${plain}\n`, html };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escape = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one);
