/**
 * A text for one page, shown once: to the same session a new secret, to the same user the fields of a
 * form that waits for a sign-in. It travels in an encrypted cookie that the page deletes, so that a reload does not repeat
 * the form and the server stores nothing.
 */
import { openValue, sealValue, type SecretBox } from '../../platform/lib/secret-box';
import type { SetCookie, SignedInVisit } from './visit';

const MINUTES = 5;

interface Owner {
  session: Pick<SignedInVisit['session'], 'sessionId' | 'userId'>;
}

export interface Once {
  /** @param path of the page that shows it */
  keep: (visit: Owner, path: string, secret: string) => SetCookie;
  /** The secret, and the cookie that deletes it; null when there is none for this page. */
  take: (visit: SignedInVisit) => { secret: string; cookie: SetCookie } | null;
}

export function createOnce(box: SecretBox, cookie: 'gateway_secret' | 'gateway_draft'): Once {
  // Signing in again after the session has ended opens another one.
  const owner = ({ session }: Owner, path: string) =>
    `${cookie === 'gateway_draft' ? session.userId : session.sessionId} ${path}`;
  return {
    keep: (visit, path, secret) => {
      const value = sealValue(box, secret, owner(visit, path), MINUTES);
      return { name: cookie, value, maxAgeSeconds: MINUTES * 60, path };
    },
    take: (visit) => {
      const sealed = visit.cookies.get(cookie) ?? '';
      const secret = openValue(box, sealed, owner(visit, visit.path)) as string | null;
      // Another page's, another person's, too old, or forged: nothing to show.
      if (secret === null) return null;
      return { secret, cookie: { name: cookie, value: null, maxAgeSeconds: 0, path: visit.path } };
    },
  };
}
