/**
 * The merchant dashboard under /dashboard. Each page is a folder with its routes; this file lists
 * them and puts the navigation around them.
 */
import type { Mode } from '../domain/mode';
import type { DashboardServices } from '../services/dashboard';
import type { UserSessions } from '../services/users/sign-in';
import { sessionPages } from '../web/account/sessions';
import { signInPages } from '../web/account/sign-in';
import { ModeBanner } from '../web/components';
import { document, type Shell } from '../web/layout';
import type { Site, Visit } from '../web/site';
import { homePages } from './home/home';
import { merchantRoute, modeOf, PREFIX } from './merchant-page';

export interface SiteServices<Services> {
  services: Services;
  sessions: UserSessions;
  /** Served on this host only; null: on every host. */
  host: string | null;
}

export function createDashboard({
  services,
  sessions,
  host,
}: SiteServices<DashboardServices>): Site {
  const site = { kind: 'merchant', prefix: PREFIX, home: `${PREFIX}/test` } as const;
  return {
    ...site,
    host,
    signIn: `${PREFIX}/sign-in`,
    document: (page, visit) => document(page, visit, shellOf(visit)),
    readSession: (token, address) => sessions.read('merchant', token, address),
    routes: [
      ...signInPages({
        site,
        product: 'Merchant dashboard',
        signIn: (request) => sessions.signIn(request),
        signOut: (token) => sessions.signOut('merchant', token),
      }),
      ...sessionPages({
        site,
        list: (user) => sessions.list(user),
        revoke: (user, id) => sessions.revoke(user, id),
      }),
      ...[homePages(services)].flat().map(merchantRoute),
    ],
  };
}

function shellOf(visit: Visit): Shell {
  const mode = modeOf(visit.path.split('/')[2]);
  const base = `${PREFIX}/${mode ?? 'test'}`;
  const actor = visit.session?.actor;
  return {
    product: 'Dashboard',
    home: base,
    owner: actor?.kind === 'merchant' ? actor.accountName : 'Payments gateway',
    nav: navigation(base),
    banner: mode === null ? null : <ModeBanner mode={mode} switchTo={otherMode(visit, mode)} />,
    search: { action: `${base}/search`, label: 'Search by id or reference' },
    account: `${PREFIX}/sessions`,
    signOut: `${PREFIX}/sign-out`,
  };
}

/** The list of the same page in the other mode; an object exists in one mode only. */
function otherMode({ path }: Visit, mode: Mode): string {
  const [, , , list] = path.split('/');
  const other = mode === 'test' ? 'live' : 'test';
  return `${PREFIX}/${other}${list === undefined || list === 'search' ? '' : `/${list}`}`;
}

function navigation(base: string): Shell['nav'] {
  return [
    { label: null, entries: [{ key: 'home', href: base, label: 'Home', icon: 'house' }] },
    {
      label: 'Settings',
      entries: [
        { key: 'sessions', href: `${PREFIX}/sessions`, label: 'Sessions', icon: 'monitor' },
      ],
    },
  ];
}
