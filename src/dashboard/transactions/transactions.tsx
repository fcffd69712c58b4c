/** Every change of the balances. */
import { TRANSACTION_TYPES, type MerchantTransaction } from '../../domain/ledger';
import type { DashboardServices } from '../../services/dashboard';
import { Card, Empty, PageHead, Table, Time, words } from '../../web/components';
import { page } from '../../web/site';
import { Signed } from '../../web/history';
import {
  chosen,
  daysOf,
  Filters,
  isFiltered,
  ListPager,
  NoMatch,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../web/lists';
import type { MerchantRoute } from '../merchant-page';

export function transactionPages({ transactions }: DashboardServices): MerchantRoute[] {
  return [
    {
      method: 'get',
      path: '/transactions',
      needs: 'read',
      run: async (visit) => {
        const { query, base } = visit;
        const type = chosen(query, 'type', TRANSACTION_TYPES);
        const currency = textOf(query, 'currency')?.toUpperCase();
        const filters = {
          ...(type === undefined ? {} : { type }),
          ...(currency === undefined ? {} : { currency }),
          ...daysOf(query),
        };
        const after = positionOf(query);
        const { items, next } = await transactions(visit, { limit: PER_PAGE, after, filters });
        const path = `${base}/transactions`;
        return page(
          'Transactions',
          <>
            <PageHead title="Transactions" lead="Every change of your balances." />
            <Filters
              path={path}
              query={query}
              options={[['type', 'Type', TRANSACTION_TYPES]]}
              texts={[['currency', 'Currency']]}
            />
            <Card flush>
              <TransactionTable rows={items} base={base} path={path} filtered={isFiltered(query)} />
            </Card>
            <ListPager path={path} query={query} next={next} />
          </>,
          { nav: 'transactions' },
        );
      },
    },
  ];
}

interface TransactionTableProps {
  rows: readonly MerchantTransaction[];
  base: string;
  path: string;
  filtered: boolean;
}

function TransactionTable({ rows, base, path, filtered }: TransactionTableProps) {
  return (
    <Table
      caption="Transactions"
      rows={rows}
      empty={
        filtered ? (
          <NoMatch path={path} what="transactions" />
        ) : (
          <Empty icon="list" title="Nothing was posted yet" />
        )
      }
      columns={[
        { label: 'Posted', cell: ({ postedAt }) => <Time at={postedAt} seconds /> },
        { label: 'Type', wide: true, cell: ({ type }) => words(type) },
        {
          label: 'Description',
          cell: ({ description, source }) =>
            source.object === 'adjustment' ? (
              description
            ) : (
              <a href={`${base}/${source.object}s/${source.id}`}>{description}</a>
            ),
        },
        {
          label: 'Entries',
          right: true,
          cell: ({ entries, currency }) =>
            entries.map((entry) => (
              <div>
                <span class="muted">{words(entry.balance)}</span>{' '}
                <Signed {...entry} currency={currency} />
              </div>
            )),
        },
      ]}
    />
  );
}
