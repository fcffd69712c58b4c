/** The pages about the signed-in person, the same for both sites; and how they sign in. */
import type { NavEntry } from '../kit/pages/layout';
import type { Route } from '../kit/pages/site';
import { accountsPages } from '../features/people/pages/accounts';
import { confirmPages } from '../features/people/pages/confirm';
import { notificationPages } from '../features/people/pages/notifications';
import type { AccountPages } from '../features/people/pages/page-options';
import { passwordPages } from '../features/people/pages/password';
import { invitationPages } from '../features/people/pages/invitation';
import { peoplePages } from '../features/people/pages/people';
import { resetPages } from '../features/people/pages/reset-password';
import { securityPages } from '../features/people/pages/security';
import { sessionPages } from '../features/people/pages/sessions';
import { signInPages } from '../features/people/pages/sign-in';
import { passkeySignInPages } from '../features/people/pages/sign-in-passkey';
import { signInSecondStep } from '../features/people/pages/sign-in-second-step';
import { singleSignOnPages } from '../features/people/pages/single-sign-on';

export function accountPages(options: AccountPages): Route[] {
  return [
    ...signInPages(options),
    ...signInSecondStep(options),
    ...passkeySignInPages(options),
    ...resetPages(options),
    ...(options.singleSignOn === null ? [] : singleSignOnPages(options, options.singleSignOn)),
    ...confirmPages(options),
    ...securityPages(options),
    ...passwordPages(options),
    ...sessionPages(options),
    ...notificationPages(options),
    ...accountsPages(options),
    ...peoplePages(options),
    ...invitationPages(options),
  ];
}

/** @param accounts of the person; with more than one there is a page to switch */
export function accountNavigation(prefix: string, accounts = 1): NavEntry[] {
  const switcher = {
    key: 'accounts',
    href: `${prefix}/accounts`,
    label: 'Accounts',
    icon: 'building-2',
  };
  return [
    ...(accounts > 1 ? [switcher] : []),
    { key: 'people', href: `${prefix}/people`, label: 'People', icon: 'users' },
    { key: 'security', href: `${prefix}/security`, label: 'Security', icon: 'shield-check' },
    { key: 'sessions', href: `${prefix}/sessions`, label: 'Sessions', icon: 'monitor' },
    { key: 'notifications', href: `${prefix}/notifications`, label: 'Notifications', icon: 'bell' },
  ];
}
