/** Where a user is signed in, the same for both sites. */
import type { Session } from '../../../kit/service/sessions';
import { Alert, Card, Empty, PageHead, Table, Time } from '../../../kit/pages/components';
import { Action } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import { get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';

export function sessionPages({ site, users }: AccountPages): Route[] {
  const path = `${site.prefix}/sessions`;
  return [
    get('/sessions', { needs: 'read', beforeEnrolment: true }, async (visit) =>
      page(
        'Sessions',
        <Sessions
          sessions={await users.sessions.list(visit.session)}
          current={visit.session.sessionId}
          path={path}
          ended={visit.query.has('ended')}
        />,
        { nav: 'sessions' },
      ),
    ),
    post('/sessions/:id/end', { needs: 'read', beforeEnrolment: true }, async (visit) => {
      const ended = await users.sessions.revoke(visit.session, visit.id);
      if (!ended) throw new PageRefusal('page_not_found');
      return redirect(`${path}?ended`);
    }),
  ];
}

interface SessionsProps {
  sessions: Session[];
  current: string;
  path: string;
  ended: boolean;
}

function Sessions({ sessions, current, path, ended }: SessionsProps) {
  return (
    <>
      <PageHead title="Sessions" lead="The browsers in which you are signed in." />
      {ended ? <Alert tone="good" title="The session was ended." /> : null}
      <Card flush>
        <Table
          caption="Sessions"
          rows={sessions}
          empty={<Empty icon="monitor" title="No sessions" />}
          columns={[
            {
              label: 'Browser',
              cell: ({ id, userAgent }) => (
                <>
                  {browserName(userAgent)} {id === current ? <small>This session</small> : null}
                </>
              ),
            },
            { label: 'Address', cell: ({ address }) => address ?? 'Unknown' },
            { label: 'Last used', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
            { label: 'Signed in', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              label: 'Actions',
              right: true,
              cell: ({ id }) => <Action action={`${path}/${id}/end`} label="End" />,
            },
          ]}
        />
      </Card>
    </>
  );
}

const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS X', 'Linux'] as const;

/** A rough name; nothing depends on it. */
function browserName(userAgent: string): string {
  const browser = BROWSERS.find((name) => userAgent.includes(`${name}/`));
  const system = SYSTEMS.find((name) => userAgent.includes(name));
  if (browser === undefined) return userAgent === '' ? 'Unknown' : userAgent.slice(0, 60);
  return `${NAMES[browser] ?? browser}${system === undefined ? '' : ` on ${system}`}`;
}
