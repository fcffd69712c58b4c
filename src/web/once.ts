/**
 * A secret that is shown once, on the page after a form. It travels in an encrypted cookie that this
 * page deletes, so that a reload does not repeat the form and the server stores nothing.
 */
import { openText, sealText, type SecretBox } from '../lib/secret-box';
import type { SetCookie, SignedInVisit } from './site';

const COOKIE = 'gateway_secret';
const SECONDS = 300;

export interface Once {
  /** @param path of the page that shows it */
  keep: (visit: SignedInVisit, path: string, secret: string) => SetCookie;
  /** The secret, and the cookie that deletes it; null when there is none for this page. */
  take: (visit: SignedInVisit) => { secret: string; cookie: SetCookie } | null;
}

export function createOnce(box: SecretBox): Once {
  const owner = (visit: SignedInVisit, path: string) => `${visit.session.sessionId} ${path}`;
  return {
    keep: (visit, path, secret) => {
      const value = sealText(box, secret, owner(visit, path));
      return { name: COOKIE, value, maxAgeSeconds: SECONDS, path };
    },
    take: (visit) => {
      const secret = openText(box, visit.cookies.get(COOKIE) ?? '', owner(visit, visit.path));
      // Another page's, another session's, or forged: nothing to show.
      if (secret === null) return null;
      return { secret, cookie: { name: COOKIE, value: null, maxAgeSeconds: 0, path: visit.path } };
    },
  };
}
