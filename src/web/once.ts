/**
 * A secret that is shown once, on the page after a form. It travels in an encrypted cookie that this
 * page deletes, so that a reload does not repeat the form and the server stores nothing.
 */
import type { SecretBox } from '../lib/secret-box';
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
      const { sealed, keyId } = box.seal(secret, owner(visit, path));
      const value = `${keyId}.${sealed.toString('base64url')}`;
      return { name: COOKIE, value, maxAgeSeconds: SECONDS, path };
    },
    take: (visit) => {
      const [keyId = '', text] = (visit.cookies.get(COOKIE) ?? '').split('.');
      if (text === undefined) return null;
      const cookie = { name: COOKIE, value: null, maxAgeSeconds: 0, path: visit.path };
      try {
        const sealed = { keyId, sealed: Buffer.from(text, 'base64url') };
        return { secret: box.open(sealed, owner(visit, visit.path)), cookie };
      } catch {
        // Another page's, another session's, or forged: nothing to show.
        return null;
      }
    },
  };
}
