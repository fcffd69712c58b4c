/** The table that the lists of payments, payouts and refunds have in common. */
import type { ComponentChildren } from 'preact';
import type { Amount } from '../../domain/money';
import { type Column, Money, Status, Table, Time, words } from './components';

interface Listed {
  id: string;
  amount: Amount;
  currency: string;
  createdAt: Date;
}

export interface ObjectRowsProps<Row> {
  rows: readonly Row[];
  /** The path of the list; a row leads to its page below it. */
  path: string;
  empty: ComponentChildren;
}

interface ObjectTableProps<Row> extends ObjectRowsProps<Row> {
  caption: string;
  statusOf: (row: Row) => string;
  /** What a person should know beside the status, such as `overpaid`. */
  marksOf?: (row: Row) => readonly string[];
  referenceOf: (row: Row) => string;
  /** The columns between the reference and the time. */
  columns: readonly Column<Row>[];
}

export function ObjectTable<Row extends Listed>(props: ObjectTableProps<Row>) {
  const { path, statusOf, marksOf = () => [], referenceOf, columns, ...table } = props;
  return (
    <Table
      {...table}
      columns={[
        {
          label: 'Amount',
          right: true,
          cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
        },
        {
          label: 'Status',
          cell: (row) => (
            <>
              <Status value={statusOf(row)} />
              {marksOf(row).length === 0 ? null : (
                <small>{marksOf(row).map(words).join(', ')}</small>
              )}
            </>
          ),
        },
        {
          label: 'Reference',
          cell: (row) => (
            <a class="reference" href={`${path}/${row.id}`} title={referenceOf(row)}>
              {referenceOf(row)}
            </a>
          ),
        },
        ...columns,
        { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}
