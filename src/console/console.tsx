/**
 * The operator console under /console. Each page is a folder with its routes; this file lists them
 * and puts the navigation around them.
 */
import type { UserSessions } from '../services/users/sign-in';
import { sessionPages } from '../web/account/sessions';
import { signInPages } from '../web/account/sign-in';
import { Card, Empty, PageHead } from '../web/components';
import { document, type Shell } from '../web/layout';
import { page, type Route, type Site } from '../web/site';

const PREFIX = '/console';

export interface ConsoleOptions {
  sessions: UserSessions;
  /** Served on this host only; null: on every host. */
  host: string | null;
}

export function createConsole({ sessions, host }: ConsoleOptions): Site {
  const site = { kind: 'operator', prefix: PREFIX, home: `${PREFIX}/home` } as const;
  return {
    ...site,
    host,
    signIn: `${PREFIX}/sign-in`,
    document: (shown, visit) => document(shown, visit, SHELL),
    readSession: (token, address) => sessions.read('operator', token, address),
    routes: [
      ...signInPages({
        site,
        product: 'Operator console',
        signIn: (request) => sessions.signIn(request),
        signOut: (token) => sessions.signOut('operator', token),
      }),
      ...sessionPages({
        site,
        list: (user) => sessions.list(user),
        revoke: (user, id) => sessions.revoke(user, id),
      }),
      ...homePages(),
    ],
  };
}

function homePages(): Route[] {
  return [
    {
      method: 'get',
      path: '/home',
      needs: 'read',
      run: () => page('Home', <Home />, { nav: 'home' }),
    },
  ];
}

function Home() {
  return (
    <>
      <PageHead title="Home" />
      <Card>
        <Empty icon="inbox" title="Nothing needs a decision" />
      </Card>
    </>
  );
}

const SHELL: Shell = {
  product: 'Operator console',
  home: `${PREFIX}/home`,
  owner: 'Operations',
  nav: [
    {
      label: null,
      entries: [{ key: 'home', href: `${PREFIX}/home`, label: 'Home', icon: 'house' }],
    },
    {
      label: 'Settings',
      entries: [
        { key: 'sessions', href: `${PREFIX}/sessions`, label: 'Sessions', icon: 'monitor' },
      ],
    },
  ],
  banner: null,
  search: null,
  account: `${PREFIX}/sessions`,
  signOut: `${PREFIX}/sign-out`,
};
