/** Merchant accounts: list and search, and one account with its policies and their history. */
import { ACCOUNT_STATUSES } from '../../../domain/account';
import { ZERO } from '../../../domain/money';
import type { ConsoleServices } from '../../../shell/console/services';
import { type AccountDetail, readAccountDetail } from '../account-detail';
import { type Account, listAccountsPage } from '../accounts';
import { AuditTable } from '../../audit/pages/audit-log';
import type { ListPosition } from '../../../kit/service/services';
import {
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import {
  chosen,
  CreateLink,
  ListPage,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../../kit/pages/lists';
import { page } from '../../../kit/pages/site';
import { get, type OperatorRoute, PREFIX } from '../../../kit/pages/operator-page';
import { Proposals } from './proposals';
import { accountChangePages } from './account-changes';
import { newAccountPages } from './new-account';

const PATH = `${PREFIX}/accounts`;
const NAV = { nav: 'accounts' };

export function merchantPages(services: ConsoleServices): OperatorRoute[] {
  const { db } = services;
  return [
    get('/accounts', 'read', async ({ query, may }) => {
      const filters = {
        search: textOf(query, 'name'),
        status: chosen(query, 'status', ACCOUNT_STATUSES),
      };
      const asked = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await listAccountsPage(db, asked);
      const list = (
        <AccountList rows={items} query={query} next={next} mayAdd={may('administer')} />
      );
      return page('Accounts', list, NAV);
    }),
    ...newAccountPages(services),
    get('/accounts/:id', 'read', async (visit) => {
      const detail = await readAccountDetail(db, visit.id);
      const body = (
        <AccountPage {...detail} mayChange={visit.may('administer')} me={visit.session.email} />
      );
      return page(detail.account.name, body, NAV);
    }),
    ...accountChangePages(services),
  ];
}

interface AccountListProps {
  rows: readonly Account[];
  query: URLSearchParams;
  next: ListPosition | null;
  mayAdd: boolean;
}

function AccountList({ rows, query, next, mayAdd }: AccountListProps) {
  return (
    <ListPage
      title="Accounts"
      lead="The merchants of this installation."
      path={PATH}
      query={query}
      options={[['status', 'Status', ACCOUNT_STATUSES]]}
      texts={[['name', 'Beginning of the name, or ID']]}
      days={false}
      next={next}
      none={
        <Empty icon="building-2" title="No accounts yet">
          <p>An account belongs to a merchant, with its people, keys and balances.</p>
        </Empty>
      }
      table={(empty) => (
        <Table
          caption="Accounts"
          rows={rows}
          empty={empty}
          columns={[
            { label: 'Name', cell: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
            { label: 'Status', cell: ({ status }) => <Status value={status} /> },
            {
              label: 'Verified',
              cell: ({ verifiedAt }) =>
                verifiedAt === null ? <span class="muted">No</span> : <Time at={verifiedAt} />,
            },
            { label: 'ID', wide: true, cell: ({ id }) => <code>{id}</code> },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      )}
    >
      {mayAdd ? <CreateLink path={PATH} label="New account" /> : null}
    </ListPage>
  );
}

type AccountPageProps = AccountDetail & { mayChange: boolean; me: string };

function AccountPage(props: AccountPageProps) {
  const { account, workingKeys, balances, review, history, mayChange } = props;
  const path = `${PATH}/${account.id}`;
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Accounts' }}
        here={account.name}
        title={
          <>
            {account.name} <Status value={account.status} />
          </>
        }
      >
        <Change href={`${path}/recipients`} label="Recipients" />
        <Change href={`${path}/schedules`} label="Schedules" />
        {mayChange ? (
          <>
            {account.verifiedAt === null ? <Change href={`${path}/verify`} label="Verify" /> : null}
            {account.status === 'active' ? (
              <Change href={`${path}/suspend`} label="Suspend" />
            ) : (
              <Change href={`${path}/reinstate`} label="Reinstate" />
            )}
          </>
        ) : null}
      </PageHead>
      <Proposals {...props} showAccount={false} />
      <div class="grid">
        <Card title="Details">
          <Facts
            rows={[
              ['ID', <Id value={account.id} />],
              [
                'Verified',
                account.verifiedAt === null ? 'No: no live keys' : <Time at={account.verifiedAt} />,
              ],
              ['Active keys', workingKeys],
              ['Created', <Time at={account.createdAt} seconds />],
            ]}
          />
        </Card>
        <Card
          title="Review"
          action={mayChange ? <Change href={`${path}/review`} label="Change" /> : undefined}
        >
          <Facts
            rows={[
              ['Live payouts', review.reviewAll === true ? 'All wait for review' : 'By the rules'],
              ['Test payouts', review.rehearse === true ? 'All wait for review' : 'No review'],
            ]}
          />
        </Card>
      </div>
      <Card title="Balances" flush>
        <Table
          caption="Balances"
          rows={balances}
          empty={<Empty icon="wallet" title="No balance yet" />}
          columns={[
            { label: 'Currency', cell: ({ currency }) => currency },
            { label: 'Mode', cell: ({ mode }) => words(mode) },
            {
              label: 'Available',
              right: true,
              cell: ({ available, currency }) => <Money amount={available} currency={currency} />,
            },
            {
              label: 'Reserved',
              right: true,
              cell: ({ reserved, currency }) => <Money amount={reserved} currency={currency} />,
            },
          ]}
        />
      </Card>
      <Maxima {...props} path={path} />
      <Card
        title="History"
        flush
        action={
          <a class="link" href={`${PREFIX}/audit-log?account=${account.id}`}>
            Show all
          </a>
        }
      >
        <AuditTable
          entries={history}
          accountHref={null}
          empty={<Empty icon="scroll-text" title="No changes yet" />}
        />
      </Card>
      <Fees {...props} path={path} />
    </>
  );
}

function Change({ href, label }: { href: string; label: string }) {
  return (
    <a class="btn" data-variant="outline" data-size="sm" href={href}>
      {label}
    </a>
  );
}

type SectionProps = AccountPageProps & { path: string };
type Owned = AccountDetail['limits'][number]['daily'];

function Maxima({ limits, review, mayChange, path }: SectionProps) {
  const reviewOf = new Map(review.maxima.map((maxima) => [maxima.currency, maxima]));
  return (
    <Card title="Limits of payouts" lead="Per payout and per rolling 24 hours." flush>
      <Table
        caption="Limits"
        rows={limits}
        empty={<Empty icon="gauge" title="No supported currencies" />}
        columns={[
          { label: 'Currency', cell: ({ currency }) => currency },
          {
            label: 'Per payout',
            right: true,
            cell: (row) => <Maximum of={row.perTransaction} currency={row.currency} />,
          },
          {
            label: '24 hours',
            right: true,
            cell: (row) => <Maximum of={row.daily} currency={row.currency} />,
          },
          {
            label: 'Without review',
            right: true,
            wide: true,
            cell: ({ currency }) => (
              <Maximum of={reviewOf.get(currency)?.autoApprove} currency={currency} />
            ),
          },
          {
            label: 'Without review, 24 hours',
            right: true,
            wide: true,
            cell: ({ currency }) => (
              <Maximum of={reviewOf.get(currency)?.autoApproveDaily} currency={currency} />
            ),
          },
          {
            label: 'Actions',
            right: true,
            cell: ({ currency }) =>
              mayChange ? (
                <Change href={`${path}/limits?currency=${currency}`} label="Change" />
              ) : null,
          },
        ]}
      />
    </Card>
  );
}

function Maximum({ of, currency }: { of: Owned | undefined; currency: string }) {
  if (of === undefined) return <>–</>;
  return (
    <>
      {of.value === null ? 'No limit' : <Money amount={of.value} currency={currency} />}
      <small>{of.from === 'account' ? 'Own' : 'Default'}</small>
    </>
  );
}

function Fees({ fees, account, mayChange, path }: SectionProps) {
  return (
    <Card
      title="Fees"
      lead="The account’s own rules, and the defaults where it has none."
      flush
      action={mayChange ? <Change href={`${path}/fees`} label="Set a fee" /> : undefined}
    >
      <Table
        caption="Fees"
        rows={fees}
        empty={<Empty icon="percent" title="No fee rules" />}
        columns={[
          {
            label: 'For',
            cell: ({ direction, currency, provider }) => (
              <>
                {words(direction)} {currency} <small>{words(provider)}</small>
              </>
            ),
          },
          {
            label: 'Fee',
            cell: ({ percentage, fixedAmount, minFee, maxFee, currency }) => (
              <>
                {percentage.replace(/\.?0+$/, '')} %
                {fixedAmount === ZERO ? null : (
                  <>
                    {' '}
                    + <Money amount={fixedAmount} currency={currency} />
                  </>
                )}
                {minFee === null ? null : (
                  <small>
                    At least <Money amount={minFee} currency={currency} />
                  </small>
                )}
                {maxFee === null ? null : (
                  <small>
                    At most <Money amount={maxFee} currency={currency} />
                  </small>
                )}
              </>
            ),
          },
          { label: 'Rule', cell: (rule) => (rule.accountId === null ? 'Default' : 'Own') },
          {
            label: 'Valid',
            wide: true,
            cell: ({ validFrom, validUntil }) => (
              <>
                From <Time at={validFrom} />
                {validUntil === null ? null : (
                  <small>
                    Until <Time at={validUntil} />
                  </small>
                )}
              </>
            ),
          },
          {
            label: 'Actions',
            right: true,
            cell: ({ accountId, direction, currency, provider }) =>
              mayChange && accountId === account.id ? (
                <Change
                  href={`${path}/fees-end?rule=${[direction, provider, currency].join('~')}`}
                  label="End"
                />
              ) : null,
          },
        ]}
      />
    </Card>
  );
}
