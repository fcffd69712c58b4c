/** A merchant who belongs to several accounts switches between them. */
import type { OwnAccount } from '../../../kit/service/sessions';
import { Card, Empty, PageHead, Status, Table, words } from '../../../kit/pages/components';
import { Action } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import { get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';

export function accountsPages({ site, users }: AccountPages): Route[] {
  if (site.kind !== 'merchant') return [];
  const path = `${site.prefix}/accounts`;
  return [
    get('/accounts', { needs: 'read', beforeEnrolment: true }, async ({ session }) => {
      const { actor } = session;
      const current = actor.kind === 'merchant' ? actor.accountId : null;
      const accounts = await users.sessions.accounts(session);
      return page('Accounts', <Accounts path={path} accounts={accounts} current={current} />, {
        nav: 'accounts',
      });
    }),
    post('/accounts', { needs: 'read', beforeEnrolment: true }, async ({ session, form }) => {
      const switched = await users.sessions.switchTo(session, form.get('account') ?? '');
      if (!switched) throw new PageRefusal('page_not_found');
      return redirect(site.home);
    }),
  ];
}

interface AccountsProps {
  path: string;
  accounts: OwnAccount[];
  current: string | null;
}

function Accounts({ path, accounts, current }: AccountsProps) {
  return (
    <>
      <PageHead title="Accounts" lead="The accounts that you belong to." />
      <Card flush>
        <Table
          caption="Accounts"
          rows={accounts}
          empty={<Empty icon="users" title="No accounts" />}
          columns={[
            { label: 'Account', cell: ({ accountName }) => accountName },
            { label: 'ID', wide: true, cell: ({ accountId }) => <code>{accountId}</code> },
            { label: 'Your role', cell: ({ role }) => words(role) },
            {
              label: 'Actions',
              right: true,
              cell: ({ accountId }) =>
                accountId === current ? (
                  <Status value="current" />
                ) : (
                  <Action action={path} label="Switch" hidden={{ account: accountId }} />
                ),
            },
          ]}
        />
      </Card>
    </>
  );
}
