/** The pages about the signed-in person, the same for both sites; and how they sign in. */
import type { NavEntry } from '../layout';
import type { Route } from '../site';
import { accountsPages } from './accounts';
import { confirmPages } from './confirm';
import { notificationPages } from './notifications';
import type { AccountPages } from './page-options';
import { passwordPages } from './password';
import { invitationPages } from './invitation';
import { peoplePages } from './people';
import { resetPages } from './reset-password';
import { securityPages } from './security';
import { sessionPages } from './sessions';
import { signInPages } from './sign-in';
import { singleSignOnPages } from './single-sign-on';

export function accountPages(options: AccountPages): Route[] {
  return [
    ...signInPages(options),
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
