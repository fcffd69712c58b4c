/** One search box for both modes: an id opens its page, anything else is a reference, an address, a hash or an amount. */
import { kindOfId } from '../../domain/ids';
import type { DashboardServices } from './services';
import {
  findIdOf,
  findTextOf,
  type FoundOfAccount,
  SEARCH_LENGTH_MIN,
  SEARCHED_OBJECTS,
} from './search-services';
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
import { get, type MerchantRoute, PREFIX } from '../../kit/pages/merchant-page';
import { objectPath } from '../../kit/pages/object-pages';

export const SEARCH_LABEL = 'Search by ID, reference, address, hash or email';

export function searchPages({ db }: DashboardServices): MerchantRoute[] {
  return [
    get('/search', { cost: 'search', needs: 'read' }, async ({ accountId, mode, query }) => {
      const text = textOf(query, 'q') ?? '';
      if (kindOfId(text) !== null) {
        const found = await findIdOf(db, accountId, text);
        const path = found === null ? null : objectPath(found.shownBy);
        if (found !== null && path !== null) return redirect(`${PREFIX}/${found.mode}${path}`);
      }
      const isShort = text.length < SEARCH_LENGTH_MIN;
      const found = isShort ? [] : await findTextOf(db, { accountId, mode, text });
      return page('Search', <Results text={text} found={found} />);
    }),
  ];
}

function Results({ text, found }: { text: string; found: readonly FoundOfAccount[] }) {
  return (
    <>
      <PageHead title="Search" lead={`Found for “${text}”, in test and live mode`} />
      <Card flush>
        <Table
          caption="Found"
          rows={found}
          empty={
            <Empty icon="search-x" title="Nothing was found">
              <p>
                Enter at least {SEARCH_LENGTH_MIN} characters. IDs, addresses and transaction hashes
                must be complete. A part of a reference or name, and an amount such as 12.50, are
                looked for in the newest {SEARCHED_OBJECTS.toLocaleString('en')} objects of each
                kind.
              </p>
            </Empty>
          }
          columns={[
            {
              label: 'Found',
              cell: ({ id, reference, mode }) => (
                <>
                  <a class="break" href={`${PREFIX}/${mode}${objectPath(id) ?? ''}`}>
                    {reference}
                  </a>
                  <small>{words(kindOfId(id) ?? '')}</small>
                </>
              ),
            },
            { label: 'Mode', cell: ({ mode }) => words(mode) },
            {
              label: 'Status',
              cell: ({ status }) => (status === null ? null : <Status value={status} />),
            },
            {
              label: 'Amount',
              right: true,
              cell: ({ amount, currency }) =>
                amount === null ? currency : <Money amount={amount} currency={currency ?? ''} />,
            },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Card>
    </>
  );
}
