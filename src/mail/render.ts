/** The words of a notification as a mail: plain text, and HTML that is light in every mail program. */
import { NAMED_MAX, type NotificationKind } from '../domain/notifications';

export interface Letter {
  subject: string;
  text: string;
  html: string;
}

export interface Told {
  objectId: string;
  url: string;
}

/**
 * @param account the name of the account; null for operators
 * @param choicesUrl where the person chooses what to be told
 */
export function renderNotification(
  kind: NotificationKind,
  told: readonly Told[],
  { account, choicesUrl }: { account: string | null; choicesUrl: string },
): Letter {
  const what = told.length === 1 ? kind.subject : `${kind.title}: ${told.length}`;
  const subject = account === null ? what : `${what} (${account})`;
  const named = told.slice(0, NAMED_MAX);
  const more = told.length > named.length ? `And ${told.length - named.length} more.` : '';
  const why = 'You get this message because of your choices in the payments gateway:';
  const text = [
    kind.text,
    ...named.map(({ objectId, url }) => `${objectId}\n${url}`),
    ...(more === '' ? [] : [more]),
    `${why}\n${choicesUrl}`,
  ].join('\n\n');
  const rows = named
    .map(({ objectId, url }) => `<li><a href="${escape(url)}">${escape(objectId)}</a></li>`)
    .join('\n');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(subject)}</title></head>
<body style="margin:0;padding:24px;background:#f6f7f9;color:#1a1f36;font:15px/1.5 system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border:1px solid #e3e8ee;border-radius:8px">
<h1 style="margin:0 0 12px;font-size:19px">${escape(subject)}</h1>
<p>${escape(kind.text)}</p>
<ul>
${rows}
</ul>
${more === '' ? '' : `<p>${more}</p>\n`}<p style="color:#5a6275;font-size:13px">${why} <a href="${escape(choicesUrl)}">Notifications</a></p>
</div></body></html>
`;
  return { subject, text: `${text}\n`, html };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escape = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one);
