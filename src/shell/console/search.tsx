/** The search on every page: what was found by kind, or the page of the one object that was named. */
import { type IdKind, kindOfId } from '../../domain/ids';
import type { ConsoleServices } from './services';
import { type Found, type FoundKind, SEARCH_LENGTH_MIN, searchAll } from './search-services';
import {
  Card,
  Empty,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../kit/pages/components';
import { textOf } from '../../kit/pages/lists';
import { page, redirect } from '../../kit/pages/site';
import { get, type OperatorRoute, PREFIX } from '../../kit/pages/operator-page';
import { ModeMark } from '../../features/payouts/console/parts';
import { sinceText } from '../../kit/pages/since';

export const SEARCH_LABEL = 'Search by ID, reference, address, hash or email';

export function searchPages({ db }: ConsoleServices): OperatorRoute[] {
  return [
    get('/search', 'read', async ({ query }) => {
      const text = textOf(query, 'q') ?? '';
      if (text.length < SEARCH_LENGTH_MIN) return page('Search', <Hint />);
      const { kinds, exact } = await searchAll(db, text);
      const own = exact === null ? null : pageOf(exact);
      if (own !== null) return redirect(own);
      return page('Search', <Results text={text} kinds={kinds} />);
    }),
  ];
}

const PAGES: Partial<Record<IdKind, string>> = {
  payment: 'payments',
  payout: 'payouts',
  payoutBatch: 'batches',
  account: 'accounts',
  case: 'cases',
};

/** The page of the object, or the one that shows it. */
function pageOf({ shownBy, accountId, mode }: Found): string | null {
  if (shownBy === null) return null;
  const kind = kindOfId(shownBy);
  if (kind === 'user') return `${PREFIX}/people`;
  if (kind === 'recipient') {
    return `${PREFIX}/accounts/${accountId ?? ''}/recipients?mode=${mode ?? ''}`;
  }
  const folder = kind === null ? undefined : PAGES[kind];
  return folder === undefined ? null : `${PREFIX}/${folder}/${shownBy}`;
}

function Hint() {
  return (
    <>
      <PageHead title="Search" />
      <Card>
        <Empty icon="search" title="What are you looking for?">
          <p>
            Enter at least {SEARCH_LENGTH_MIN} characters: an ID of any object, a destination
            address, a transaction hash, a user’s email, or the beginning of a merchant’s reference,
            of an account’s name or of a recipient’s name.
          </p>
        </Empty>
      </Card>
    </>
  );
}

function Results({ text, kinds }: { text: string; kinds: readonly FoundKind[] }) {
  return (
    <>
      <PageHead title="Search" lead={`Found for “${text}”`} />
      {kinds.length === 0 ? (
        <Card>
          <Empty icon="search-x" title="Nothing was found">
            <p>
              IDs, addresses, hashes and emails must be complete. References and names can be their
              beginning; references are case-sensitive.
            </p>
          </Empty>
        </Card>
      ) : null}
      {kinds.map((one) => (
        <Kind {...one} />
      ))}
    </>
  );
}

const TITLES: Partial<Record<IdKind, string>> = {
  payoutBatch: 'Batches',
  payoutSchedule: 'Payout schedules',
  payoutScheduleRun: 'Runs of payout schedules',
  webhookEndpoint: 'Webhook endpoints',
  webhookDelivery: 'Deliveries',
  apiKey: 'API keys',
};

function Kind({ kind, found, isCut }: FoundKind) {
  const title = TITLES[kind] ?? `${words(kind)}s`;
  return (
    <Card
      title={title}
      lead={isCut ? `The first ${found.length}. Type more of it to see others.` : undefined}
      flush
    >
      <Table
        caption={title}
        rows={found}
        empty={null}
        columns={[
          { label: 'Found', cell: (one) => <Name {...one} /> },
          {
            label: 'Status',
            cell: ({ status, mode }) => (
              <>
                {status === null ? null : <Status value={status} />}{' '}
                {mode === null ? null : <ModeMark mode={mode} />}
              </>
            ),
          },
          {
            label: 'Amount',
            right: true,
            cell: ({ amount, currency }) =>
              amount === null ? currency : <Money amount={amount} currency={currency ?? ''} />,
          },
          {
            label: 'Account',
            wide: true,
            cell: ({ accountId, accountName }) =>
              accountId === null ? null : (
                <a href={`${PREFIX}/accounts/${accountId}`}>{accountName}</a>
              ),
          },
          {
            label: 'Age',
            wide: true,
            cell: ({ createdAt }) => (
              <>
                {sinceText(createdAt)}
                <small>
                  <Time at={createdAt} />
                </small>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Name(found: Found) {
  const path = pageOf(found);
  const text = found.name ?? found.id;
  return (
    <>
      {path === null ? (
        <span class="break">{text}</span>
      ) : (
        <a class="break" href={path}>
          {text}
        </a>
      )}
      <small>
        <code>{found.id}</code>
      </small>
    </>
  );
}
