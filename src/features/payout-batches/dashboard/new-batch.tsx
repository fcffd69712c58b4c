/** Create a batch from a table: every faulty row and the totals first, then the batch. */
import type { ComponentChildren } from 'preact';
import type { RowFault } from '../../../domain/batch-terms';
import { BATCH_ROWS_MAX } from '../../../domain/payout-batch';
import { createdId } from '../../../shell/dashboard/money';
import type { DashboardServices } from '../../../shell/dashboard/services';
import type { BatchCheck } from '../payout-batches';
import {
  Alert,
  Card,
  Facts,
  Money,
  PageHead,
  ReviewReasons,
  Table,
} from '../../../kit/pages/components';
import { Field, SentAgain, TableField } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { type Answer, page, redirect, signInAgain } from '../../../kit/pages/site';
import {
  formKey,
  MAKE,
  nextFormKey,
  type Outcome,
  personOf,
  RefusalAlert,
  tryForm,
} from '../../../kit/pages/creation';
import type { MerchantRoute, MerchantVisit } from '../../../kit/pages/merchant-page';
import { faultText } from '../../../kit/pages/fault-text';
import { COLUMNS, readSheet, type Sheet, TEMPLATE } from './sheet';
import { SheetFault, TO_CORRECT, writeSheet } from '../../../kit/pages/sheet';

const NAV = { nav: 'batches' };
/** The form reads thousands of rows. */
const LARGE = { takesLargeForm: true, cost: 'table' } as const;
const CSV = 'text/csv; charset=utf-8';
/** How many faulty rows the page shows; its file has all of them. */
const FAULTS_SHOWN = 50;

export function newBatchPages({ money }: DashboardServices): MerchantRoute[] {
  const check = async (visit: MerchantVisit): Promise<BatchCheck & { sheet: Sheet }> => {
    const sheet = await readSheet(visit.form.get('table') ?? '');
    const caller = await money.allowedCaller(personOf(visit));
    const input = { ...headOf(visit.form), rows: sheet.rows };
    return { ...(await money.payoutBatches.check(caller, input)), sheet };
  };
  return [
    {
      method: 'get',
      path: '/batches/new',
      ...MAKE,
      run: (visit) => {
        const form = { values: visit.draft ?? visit.query, errors: {} };
        const body = (
          <NewBatch path={`${visit.base}/batches`} form={form} refusal={null} result={null} />
        );
        return page('Create a batch', body, NAV);
      },
    },
    {
      method: 'get',
      path: '/batches/template.csv',
      ...MAKE,
      run: () => ({ kind: 'download', name: 'batch-template.csv', type: CSV, content: [TEMPLATE] }),
    },
    {
      method: 'post',
      path: '/batches/new',
      ...MAKE,
      ...LARGE,
      run: async (visit) => {
        const path = `${visit.base}/batches`;
        const sent = await tryTable(visit.form, () => check(visit));
        if (sent.result === null) return refused(visit, sent);
        const { form: values, userId } = visit;
        const body = <Preview {...{ path, values, userId }} check={sent.result} refusal={null} />;
        return page('Check the batch', body, NAV);
      },
    },
    {
      method: 'post',
      path: '/batches/faults.csv',
      ...MAKE,
      ...LARGE,
      run: async (visit) => {
        const sent = await tryTable(visit.form, () => check(visit));
        if (sent.result === null) return refused(visit, sent);
        const content = [sheetToCorrect(sent.result.faults, sent.result.sheet)];
        return { kind: 'download', name: 'batch-faults.csv', type: CSV, content };
      },
    },
    {
      method: 'post',
      path: '/batches/create',
      ...MAKE,
      ...LARGE,
      run: async (visit) => {
        const again =
          visit.mode === 'live' ? signInAgain(visit, `${visit.base}/batches/new`) : null;
        if (again !== null) return again;
        const path = `${visit.base}/batches`;
        const { form } = visit;
        const idempotencyKey = formKey(form);
        const sent = await tryTable(form, async () => {
          const caller = await money.allowedCaller(personOf(visit));
          const { rows } = await readSheet(form.get('table') ?? '');
          return createdId(() =>
            money.payoutBatches.create(caller, { ...headOf(form), rows, idempotencyKey }),
          );
        });
        if (sent.result !== null) return redirect(`${path}/${sent.result}`);
        form.set('key', nextFormKey(idempotencyKey, sent.refusal));
        const checked = await tryTable(form, () => check(visit));
        const body =
          checked.result === null ? (
            <NewBatch path={path} {...checked} />
          ) : (
            <Preview
              path={path}
              values={form}
              check={checked.result}
              refusal={sent.refusal}
              userId={visit.userId}
            />
          );
        return page('Check the batch', body, { ...NAV, status: sent.refusal?.status ?? 422 });
      },
    },
  ];
}

function refused({ base }: MerchantVisit, sent: Outcome<unknown>): Answer {
  const body = <NewBatch path={`${base}/batches`} {...sent} />;
  return page('Create a batch', body, { ...NAV, status: sent.refusal?.status ?? 422 });
}

function headOf(form: URLSearchParams) {
  const description = form.get('description')?.trim() ?? '';
  return {
    reference: form.get('reference')?.trim() ?? '',
    description: description === '' ? null : description,
  };
}

async function tryTable<Result>(
  values: URLSearchParams,
  work: () => Promise<Result>,
): Promise<Outcome<Result>> {
  const reference = values.get('reference')?.trim() ?? '';
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(reference)) {
    const errors = { reference: 'Enter 1 to 64 letters, digits, “_” or “-”.' };
    return { result: null, form: { values, errors }, refusal: null };
  }
  return trySheet(values, work);
}

/** A fault of the table as a whole stands below the table. */
export async function trySheet<Result>(
  values: URLSearchParams,
  work: () => Promise<Result>,
): Promise<Outcome<Result>> {
  try {
    return await tryForm(values, work);
  } catch (error) {
    if (!(error instanceof SheetFault)) throw error;
    return { result: null, form: { values, errors: { table: error.message } }, refusal: null };
  }
}

/** The whole table, so that it can be corrected and sent again. */
function sheetToCorrect(faults: readonly RowFault[], { lines }: Sheet): string {
  const texts = new Map(faults.map((fault) => [fault.row, faultText(fault)]));
  const rows = lines.map((line, index) => [
    ...COLUMNS.map((column) => line[column] ?? ''),
    texts.get(index + 1) ?? '',
  ]);
  return writeSheet([[...COLUMNS, TO_CORRECT], ...rows]);
}

function NewBatch({ path, form, refusal }: Outcome<unknown> & { path: string }) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Batches' }}
        title="Create a batch"
        lead="Nothing is reserved before you have seen every row and the totals."
      >
        <a class="btn" data-variant="outline" href={`${path}/template.csv`}>
          <Icon name="download" /> Template
        </a>
      </PageHead>
      <RefusalAlert refusal={refusal} />
      <Card>
        <form method="post" action={`${path}/new`} class="stack">
          <Field
            name="reference"
            label="Reference"
            hint="Your own unique ID of the batch: letters, digits, “_” and “-”."
            placeholder="payroll-2026-11"
            form={form}
            required
            autocomplete="off"
            maxLength={64}
          />
          <Field
            name="description"
            label="Description"
            hint="Optional."
            form={form}
            maxLength={255}
          />
          <TableField
            label="Table"
            hint={`At most ${BATCH_ROWS_MAX.toLocaleString('en')} rows below the headings ${COLUMNS.join(', ')}. Columns are separated by commas, semicolons or tabs.`}
            form={form}
          />
          <div class="actions">
            <button class="btn">Check the table</button>
          </div>
        </form>
      </Card>
    </>
  );
}

interface PreviewProps {
  path: string;
  values: URLSearchParams;
  check: BatchCheck & { sheet: Sheet };
  refusal: Outcome<unknown>['refusal'];
  /** The person. */
  userId: string;
}

function Preview({ path, values, check, refusal, userId }: PreviewProps) {
  const { faults, totals, shortage, reviewReasons, sheet } = check;
  const isSound = faults.length === 0 && shortage === null;
  const count = sheet.lines.length;
  return (
    <>
      <PageHead
        back={{ href: `${path}/new`, label: 'Create a batch' }}
        title={count === 1 ? '1 payout' : `${count.toLocaleString('en')} payouts`}
        lead={values.get('reference') ?? ''}
      />
      <RefusalAlert refusal={refusal?.code === 'rows_refused' ? null : refusal} />
      {faults.length === 0 ? null : (
        <Alert
          tone="bad"
          title={`${faults.length.toLocaleString('en')} of ${count.toLocaleString('en')} rows must be corrected. Nothing was reserved.`}
        />
      )}
      {shortage?.code !== 'insufficient_balance' ? null : (
        <Alert
          tone="bad"
          title={`The ${shortage.details.currency} balance does not cover the batch.`}
        >
          <p>
            Needed: {shortage.details.required} {shortage.details.currency}. Available:{' '}
            {shortage.details.available} {shortage.details.currency}.
          </p>
        </Alert>
      )}
      <Faults
        faults={faults}
        more="The file has all."
        action={
          <form method="post" action={`${path}/faults.csv`}>
            <Hidden values={values} table />
            <button class="btn" data-variant="outline">
              <Icon name="download" /> Table with these notes
            </button>
          </form>
        }
      />
      <Totals
        totals={totals}
        lead={faults.length === 0 ? undefined : 'The rows that can be paid.'}
      />
      {reviewReasons.length === 0 ? null : (
        <Card title="An operator must approve the batch" lead="Rules that apply to it or to rows.">
          <ReviewReasons reasons={reviewReasons} requester={userId} />
        </Card>
      )}
      <Card>
        <form method="post" action={isSound ? `${path}/create` : `${path}/new`} class="stack">
          <Hidden values={values} table={isSound} />
          {isSound ? null : (
            <TableField
              label="Table"
              hint="Correct the rows here, or choose a file that you have corrected: the one above, or your own."
              form={{ values, errors: {} }}
            />
          )}
          <div class="actions">
            <button class="btn">{isSound ? 'Reserve the funds and create' : 'Check again'}</button>
            <a class="btn" data-variant="outline" href={path}>
              Cancel
            </a>
          </div>
        </form>
      </Card>
    </>
  );
}

/** What the next form sends as well. @param table with the table, which the page does not show */
function Hidden({ values, table }: { values: URLSearchParams; table: boolean }) {
  return (
    <>
      <input type="hidden" name="key" value={formKey(values)} />
      <SentAgain values={values} fields={['reference', 'description']} table={table} />
    </>
  );
}

interface TotalsProps {
  totals: BatchCheck['totals'];
  lead: string | undefined;
}

export function Totals({ totals, lead }: TotalsProps) {
  return (
    <Card title="Totals" lead={lead}>
      {totals.map(({ currency, rows, amount, serviceFee, networkFee, totalDebit }) => {
        const money = (value: string) => <Money amount={value} currency={currency} exact />;
        return (
          <Facts
            rows={[
              [`${currency} rows`, rows.toLocaleString('en')],
              ['Amount', money(amount)],
              ['Service fee', money(serviceFee)],
              ['Network fee', money(networkFee)],
              ['Total debit', money(totalDebit)],
            ]}
          />
        );
      })}
    </Card>
  );
}

interface FaultsProps {
  faults: readonly RowFault[];
  /** A sentence that says where the other rows are. */
  more: string;
  action?: ComponentChildren;
}

export function Faults({ faults, more, action }: FaultsProps) {
  if (faults.length === 0) return null;
  const shown = faults.slice(0, FAULTS_SHOWN);
  return (
    <Card
      title="Rows to correct"
      lead={shown.length < faults.length ? `The first ${shown.length}. ${more}` : undefined}
      flush
      action={action}
    >
      <Table
        caption="Rows to correct"
        rows={shown}
        empty={null}
        columns={[
          { label: 'Row', right: true, cell: ({ row }) => row },
          { label: 'Reference', cell: ({ reference }) => reference },
          { label: 'What to correct', cell: (fault) => faultText(fault) },
        ]}
      />
    </Card>
  );
}
