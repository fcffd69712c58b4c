/** The pages about the signed-in person, the same for both sites; and how they sign in. */
import type { UserServices } from '../../services/users/user-services';
import type { NavEntry } from '../layout';
import type { Once } from '../once';
import type { Route, Site } from '../site';
import { accountsPages } from './accounts';
import { confirmPages } from './confirm';
import { passwordPages } from './password';
import { invitationPages } from './invitation';
import { peoplePages } from './people';
import { securityPages } from './security';
import { sessionPages } from './sessions';
import { signInPages } from './sign-in';

export interface AccountPages {
  site: Pick<Site, 'kind' | 'prefix' | 'home'>;
  /** Above the sign-in form, such as `Operator console`. */
  product: string;
  users: UserServices;
  once: Once;
  /** `https://dashboard.example.com`: for links, and for passkeys. */
  publicUrl: string;
}

export function accountPages(options: AccountPages): Route[] {
  return [
    ...signInPages(options),
    ...confirmPages(options),
    ...securityPages(options),
    ...passwordPages(options),
    ...sessionPages(options),
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
  ];
}
