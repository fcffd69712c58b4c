/** What the ways to sign in share: their paths, where the person goes next, and the step between password and code. */
import type { OpenedSession } from '../../../kit/service/sessions';
import type { SignInRefusal } from '../sign-in';
import type { Answer } from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';
import { signedInAnswer } from './opened-session';
import { stepCookie } from './second-step';

export const SIGN_IN = '/sign-in';

export function nextOf(visit: Visit): string {
  return visit.form.get('next') ?? visit.query.get('next') ?? '';
}

/** The path with the page that opens after the sign-in. */
export function withNext(path: string, visit: Visit): string {
  return `${path}?next=${encodeURIComponent(nextOf(visit))}`;
}

export function signInPath({ site }: Pick<AccountPages, 'site'>): string {
  return site.prefix + SIGN_IN;
}

export function openSession(
  options: AccountPages,
  visit: Visit,
  opened: OpenedSession,
): Promise<Answer> {
  const cookies = [stepCookie(options.site, SIGN_IN, null)];
  return signedInAnswer(options, visit, opened, { next: nextOf(visit), cookies });
}

/** @param wrong of what was refused */
export function refusalOf(refusal: SignInRefusal, wrong: string): { text: string; status: number } {
  switch (refusal.kind) {
    case 'refused':
      return { text: wrong, status: 401 };
    case 'limited':
      return {
        text: `Too many failed attempts. Try again in ${refusal.minutes} minutes, or in a browser in which you signed in before.`,
        status: 429,
      };
    case 'busy':
      return {
        text: 'Too many people are signing in. Try again in a few seconds.',
        status: 503,
      };
  }
}
