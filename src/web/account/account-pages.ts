/** The pages about the signed-in person, the same for both sites; and how they sign in. */
import type { UserServices } from '../../services/users/user-services';
import type { NavEntry } from '../layout';
import type { Once } from '../once';
import type { Route, Site } from '../site';
import { confirmPages } from './confirm';
import { securityPages } from './security';
import { sessionPages } from './sessions';
import { signInPages } from './sign-in';

export interface AccountPages {
  site: Pick<Site, 'kind' | 'prefix' | 'home'>;
  /** Above the sign-in form, such as `Operator console`. */
  product: string;
  users: UserServices;
  once: Once;
}

export function accountPages(options: AccountPages): Route[] {
  return [
    ...signInPages(options),
    ...confirmPages(options),
    ...securityPages(options),
    ...sessionPages(options),
  ];
}

export function accountNavigation(prefix: string): NavEntry[] {
  return [
    { key: 'security', href: `${prefix}/security`, label: 'Security', icon: 'shield-check' },
    { key: 'sessions', href: `${prefix}/sessions`, label: 'Sessions', icon: 'monitor' },
  ];
}
