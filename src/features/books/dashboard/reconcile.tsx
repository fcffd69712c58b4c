/** A merchant's list, compared with the gateway's records. Nothing is stored. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Difference,
  type ExpectedRow,
  type Outcome as RowOutcome,
  OUTCOMES,
  RECONCILED,
  RECONCILED_DAYS_MAX,
  RECONCILED_ROWS_MAX,
  type Reconciled,
  type ReconciledRow,
  type Reconciliation,
} from '../../../domain/merchant-reconciliation';
import { readExpectedRow } from '../reconciliations-contract';
import type { DashboardServices } from '../../../shell/dashboard/services';
import {
  Alert,
  Card,
  Facts,
  Id,
  Money,
  PageHead,
  Table,
  words,
} from '../../../kit/pages/components';
import { Field, type FormState, Select, SentAgain, TableField } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { chosen } from '../../../kit/pages/lists';
import { page } from '../../../kit/pages/site';
import {
  decimalStyleOf,
  plainAmount,
  readLines,
  ROWS_IN_A_TURN,
  SheetFault,
  writeSheet,
} from '../../../kit/pages/sheet';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { periodOf } from './period';

const NAV = { nav: 'exports' };
const COLUMNS = ['reference', 'amount', 'currency'];
/** A shop's list may have more. */
const COLUMNS_OF_LIST = { columns: COLUMNS, required: COLUMNS, ignoresOthers: true };
/** How many rows the page shows; its file has all of them. */
const ROWS_SHOWN = 200;
/** It reads thousands of rows and keeps nothing. */
const COMPARE = { needs: 'read', takesLargeForm: true, cost: 'export' } as const;

const KINDS: readonly (readonly [Reconciled, string])[] = [
  ['payment', 'Payments: what customers have paid'],
  ['payout', 'Payouts: what was sent'],
  ['refund', 'Refunds: what was returned'],
];

const OUTCOME_LABELS: Record<RowOutcome, string> = {
  matched: 'Matched',
  different: 'Different',
  unknown: 'Unknown to the gateway',
  missing: 'Missing from your list',
};

const DIFFERENCE_LABELS: Record<Difference, string> = {
  amount: 'Amount differs',
  currency: 'Currency differs',
  status: 'No money has moved',
  repeated: 'An earlier row has the same reference',
};

interface Compared {
  form: FormState;
  result: Reconciliation | null;
}

export function reconcilePages(services: DashboardServices): MerchantRoute[] {
  const compare = async (visit: MerchantVisit): Promise<Compared & { zone: string }> => {
    const { timeZone } = await services.bookkeeping(visit);
    const values = visit.form;
    const { createdFrom, createdTo, errors } = periodOf(values, timeZone, RECONCILED_DAYS_MAX);
    const rows = await readTable(values.get('table') ?? '', errors);
    const form = { values, errors };
    if (createdFrom === undefined || createdTo === undefined || Object.keys(errors).length > 0) {
      return { form, result: null, zone: timeZone };
    }
    const kind = chosen(values, 'object', RECONCILED) ?? 'payment';
    const result = await services.reconcile(visit, { kind, createdFrom, createdTo, rows });
    return { form, result, zone: timeZone };
  };
  return [
    get('/reconcile', 'read', async (visit) => {
      const { timeZone } = await services.bookkeeping(visit);
      const form = { values: visit.draft ?? visit.query, errors: {} };
      return page(
        'Compare records',
        <Compare base={visit.base} form={form} zone={timeZone} />,
        NAV,
      );
    }),
    post('/reconcile', COMPARE, async (visit) => {
      const { form, result, zone } = await compare(visit);
      if (result !== null) {
        const body = <Result base={visit.base} values={form.values} result={result} />;
        return page('Compared records', body, NAV);
      }
      return refused(visit.base, form, zone);
    }),
    post('/reconcile/result.csv', COMPARE, async (visit) => {
      const { form, result, zone } = await compare(visit);
      if (result === null) return refused(visit.base, form, zone);
      const type = 'text/csv; charset=utf-8';
      return {
        kind: 'download',
        name: 'reconciliation.csv',
        type,
        content: [resultSheet(result)],
      };
    }),
  ];
}

function refused(base: string, form: FormState, zone: string) {
  const body = <Compare base={base} form={form} zone={zone} />;
  return page('Compare records', body, { ...NAV, status: 422 });
}

/** The faults of the table go to `errors.table`. */
async function readTable(text: string, errors: Record<string, string>): Promise<ExpectedRow[]> {
  try {
    const shape = { ...COLUMNS_OF_LIST, rowsMax: RECONCILED_ROWS_MAX };
    const lines = readLines(text, shape);
    const style = decimalStyleOf(lines.map(({ amount = '' }) => amount));
    const faults: string[] = [];
    const rows: ExpectedRow[] = [];
    for (const [index, line] of lines.entries()) {
      if (index % ROWS_IN_A_TURN === 0) await nextTurn();
      const name = `Row ${index + 1}`;
      const amount = plainAmount(line['amount'] ?? '', style) ?? '';
      const { reference, currency } = line;
      const read = readExpectedRow({ reference, currency, amount }, name);
      if (Array.isArray(read)) {
        faults.push(`${name}: ${read.map(({ field }) => field.slice(name.length + 1)).join(', ')}`);
      } else rows.push(read);
    }
    if (faults.length > 0) {
      const more = faults.length > 10 ? `, and ${faults.length - 10} more` : '';
      errors['table'] = `Correct these cells. ${faults.slice(0, 10).join('; ')}${more}.`;
    }
    return rows;
  } catch (error) {
    if (!(error instanceof SheetFault)) throw error;
    errors['table'] = error.message;
    return [];
  }
}

const RESULT_COLUMNS = [
  'row',
  'outcome',
  'difference',
  'reference',
  'currency',
  'expected_amount',
  'recorded_amount',
  'recorded_currency',
  'object_id',
  'status',
];

function resultSheet({ rows }: Reconciliation): string {
  const lines = rows.map(
    ({ row, outcome, difference, reference, currency, expected, recorded }) => [
      row === null ? '' : String(row),
      outcome,
      difference ?? '',
      reference ?? '',
      currency,
      expected ?? '',
      recorded?.amount ?? '',
      recorded?.currency ?? '',
      recorded?.id ?? '',
      recorded?.status ?? '',
    ],
  );
  return writeSheet([RESULT_COLUMNS, ...lines]);
}

interface CompareProps {
  base: string;
  form: FormState;
  zone: string;
}

function Compare({ base, form, zone }: CompareProps) {
  return (
    <>
      <PageHead
        back={{ href: `${base}/exports`, label: 'Exports' }}
        title="Compare records"
        lead="Compare your shop’s list with the movements at the gateway. Nothing is stored."
      />
      <Card>
        <form method="post" action={`${base}/reconcile`} class="stack">
          <Select name="object" label="Your list has" form={form} options={KINDS} />
          <Field name="from" label="First day" type="date" form={form} required />
          <Field
            name="to"
            label="Last day"
            type="date"
            hint={`Objects that were created on these days and are not in your list are reported as missing. The days are those of ${zone}.`}
            form={form}
            required
          />
          <TableField
            label="Your list"
            hint={`At most ${RECONCILED_ROWS_MAX.toLocaleString('en')} rows below the headings ${COLUMNS.join(', ')}. Other columns are ignored. Columns are separated by commas, semicolons or tabs.`}
            form={form}
          />
          <div class="actions">
            <button class="btn">Compare</button>
          </div>
        </form>
      </Card>
    </>
  );
}

interface ResultProps {
  base: string;
  values: URLSearchParams;
  result: Reconciliation;
}

function Result({ base, values, result }: ResultProps) {
  const { kind, counts, totals, rows, hasMoreMissing } = result;
  const open = rows.filter(({ outcome }) => outcome !== 'matched');
  return (
    <>
      <PageHead
        back={{ href: `${base}/reconcile`, label: 'Compare records' }}
        title="Compared records"
        lead={`${values.get('from') ?? ''} to ${values.get('to') ?? ''}`}
      >
        <form method="post" action={`${base}/reconcile/result.csv`}>
          <SentAgain values={values} fields={['object', 'from', 'to']} table />
          <button class="btn" data-variant="outline">
            <Icon name="download" /> Download
          </button>
        </form>
      </PageHead>
      {open.length === 0 ? (
        <Alert tone="good" title="Your list agrees with the gateway to the last digit." />
      ) : null}
      <Card title="Summary">
        <Facts
          rows={[
            ...OUTCOMES.map(
              (outcome) => [OUTCOME_LABELS[outcome], counts[outcome].toLocaleString('en')] as const,
            ),
            ...totals.flatMap(({ currency, expected, recorded }) => [
              [
                `${currency} in your list`,
                <Money amount={expected} currency={currency} />,
              ] as const,
              [`${currency} moved`, <Money amount={recorded} currency={currency} />] as const,
            ]),
          ]}
        />
      </Card>
      {open.length === 0 ? null : (
        <Card title="Needs review" lead={leadOf(open.length, hasMoreMissing)} flush>
          <Table
            caption="Rows that do not match"
            rows={open.slice(0, ROWS_SHOWN)}
            empty={null}
            columns={[
              { label: 'Row', right: true, cell: ({ row }) => row },
              { label: 'Reference', cell: ({ reference }) => reference },
              { label: 'Result', cell: resultText },
              { label: 'Your list', right: true, cell: expectedOf },
              { label: 'Moved', right: true, cell: recordedOf },
              { label: 'Object', cell: (row) => <ObjectLink base={base} kind={kind} row={row} /> },
            ]}
          />
        </Card>
      )}
    </>
  );
}

function leadOf(count: number, hasMore: boolean): string | undefined {
  if (hasMore) return 'Too many objects are missing to show all of them. Shorten the period.';
  return count > ROWS_SHOWN ? `The first ${ROWS_SHOWN}. The file has all.` : undefined;
}

function resultText({ outcome, difference }: ReconciledRow): string {
  return difference === null ? OUTCOME_LABELS[outcome] : DIFFERENCE_LABELS[difference];
}

function expectedOf({ expected, currency }: ReconciledRow) {
  return expected === null ? null : <Money amount={expected} currency={currency} />;
}

function recordedOf({ recorded }: ReconciledRow) {
  if (recorded === null) return null;
  return <Money amount={recorded.amount} currency={recorded.currency} />;
}

function ObjectLink({ base, kind, row }: { base: string; kind: Reconciled; row: ReconciledRow }) {
  const { recorded } = row;
  if (recorded === null) return null;
  return (
    <>
      <a href={`${base}/${kind}s/${recorded.id}`}>
        <Id value={recorded.id} />
      </a>{' '}
      {words(recorded.status)}
      {recorded.objects > 1 ? `, and ${recorded.objects - 1} more` : ''}
    </>
  );
}
