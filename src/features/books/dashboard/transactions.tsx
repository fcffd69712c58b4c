/** Every change of the balances. */
import type { ComponentChildren } from 'preact';
import {
  TRANSACTION_TYPES,
  type MerchantTransaction,
  type TransactionLine,
  type TransactionFilters,
} from '../../../domain/ledger';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { Empty, Money, Sentence, Table, Time, words } from '../../../kit/pages/components';
import type { ListPosition } from '../../../kit/service/services';
import { Icon } from '../../../kit/pages/icon';
import { page } from '../../../kit/pages/site';
import { Signed } from '../../../kit/pages/history';
import { chosen, daysOf, ListPage, PER_PAGE, positionOf, textOf } from '../../../kit/pages/lists';
import { get, type MerchantRoute } from '../../../kit/pages/merchant-page';
import { csvLines, EXPORT_PAGE, jsonLines } from './transactions-file';

export function transactionPages({
  transactions,
  transactionLines,
}: DashboardServices): MerchantRoute[] {
  return [
    get('/transactions', 'read', async (visit) => {
      const { query, base } = visit;
      const filters = filtersOf(query);
      const after = positionOf(query);
      const read = filters.batchId === undefined ? transactionLines : transactions;
      const { items, next } = await read(visit, { limit: PER_PAGE, after, filters });
      const path = `${base}/transactions`;
      return page(
        'Transactions',
        <ListPage
          title="Transactions"
          lead={leadOf(filters, base)}
          path={path}
          query={query}
          options={[['type', 'Type', TRANSACTION_TYPES]]}
          texts={[['currency', 'Currency']]}
          next={next}
          none={NO_TRANSACTIONS}
          table={(empty) => <TransactionTable rows={items} base={base} empty={empty} />}
        >
          <ExportLink path={path} query={query} format="csv" />
          <ExportLink path={path} query={query} format="json" />
        </ListPage>,
        { nav: 'transactions' },
      );
    }),
    get('/transactions/export', { cost: 'export', needs: 'read' }, (visit) => {
      const { query, mode } = visit;
      const filters = filtersOf(query);
      const read = (after: ListPosition | null) =>
        transactions(visit, { limit: EXPORT_PAGE, after, filters });
      const name = `transactions-${mode}-${new Date().toISOString().slice(0, 10)}`;
      return query.get('format') === 'json'
        ? {
            kind: 'download',
            name: `${name}.json`,
            type: 'application/json; charset=utf-8',
            content: jsonLines(read),
          }
        : {
            kind: 'download',
            name: `${name}.csv`,
            type: 'text/csv; charset=utf-8',
            content: csvLines(read),
          };
    }),
  ];
}

function filtersOf(query: URLSearchParams): TransactionFilters {
  const type = chosen(query, 'type', TRANSACTION_TYPES);
  const currency = textOf(query, 'currency')?.toUpperCase();
  const batchId = textOf(query, 'batch');
  return {
    ...(batchId === undefined ? {} : { batchId }),
    ...(type === undefined ? {} : { type }),
    ...(currency === undefined ? {} : { currency }),
    ...daysOf(query),
  };
}

function leadOf({ batchId }: TransactionFilters, base: string) {
  if (batchId === undefined) return 'All changes to your balances.';
  return (
    <>
      Those of the payouts of <a href={`${base}/batches/${batchId}`}>one batch</a>.
    </>
  );
}

interface ExportLinkProps {
  path: string;
  query: URLSearchParams;
  format: 'csv' | 'json';
}

/** With the filters of the page, and all pages of it. */
function ExportLink({ path, query, format }: ExportLinkProps) {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== 'after'));
  kept.set('format', format);
  return (
    <a class="btn" data-variant="outline" href={`${path}/export?${kept.toString()}`}>
      <Icon name="download" /> Export {format.toUpperCase()}
    </a>
  );
}

export const NO_TRANSACTIONS = <Empty icon="list" title="No entries yet" />;

const DAY = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' },
});

interface TransactionTableProps {
  rows: readonly (MerchantTransaction | TransactionLine)[];
  base: string;
  empty: ComponentChildren;
}

export function TransactionTable({ rows, base, empty }: TransactionTableProps) {
  return (
    <Table
      caption="Transactions"
      rows={rows}
      empty={empty}
      groupOf={({ postedAt }) => `${DAY.format(postedAt)} (UTC)`}
      columns={[
        { label: 'Posted', cell: ({ postedAt }) => <Time at={postedAt} seconds /> },
        { label: 'Type', wide: true, cell: ({ type }) => words(type) },
        {
          label: 'Description',
          cell: (row) => <Description row={row} base={base} />,
        },
        {
          label: 'Entries',
          right: true,
          cell: ({ entries, currency }) =>
            entries.map((entry) => (
              <div>
                <span class="muted">
                  {words(entry.part)}, {entry.balance}
                </span>{' '}
                <Signed {...entry} currency={currency} />
              </div>
            )),
        },
        {
          label: 'Available after',
          right: true,
          cell: ({ entries, currency }) => {
            const last = entries.findLast(({ balance }) => balance === 'available');
            return last === undefined ? (
              '–'
            ) : (
              <Money amount={last.balanceAfter} currency={currency} />
            );
          },
        },
      ]}
    />
  );
}

function Description({ row, base }: { row: MerchantTransaction | TransactionLine; base: string }) {
  const { description, source, type, currency } = row;
  if ('batch' in row && row.batch !== null) {
    const { id, reference, count } = row.batch;
    const opens = new URLSearchParams({ batch: id, type, currency }).toString();
    return (
      <a href={`${base}/transactions?${opens}`}>
        <Sentence text={`Batch ${reference}: ${count.toLocaleString('en')} payouts`} />
      </a>
    );
  }
  if (source.object === 'adjustment') return <span class="break">{description}</span>;
  return (
    <a title={description} href={`${base}/${source.object}s/${source.id}`}>
      <Sentence text={description} />
    </a>
  );
}
