/** Create a batch from a table: every faulty row and the totals first, then the batch. */
import type { RowFault } from '../../../domain/batch-terms';
import type { Approver } from '../../../domain/second-person';
import { BATCH_ROWS_MAX } from '../../../domain/payout-batch';
import { createdId } from '../../../shell/dashboard/money';
import type { DashboardServices } from '../../../shell/dashboard/services';
import type { BatchCheck } from '../payout-batches';
import { Alert, Card, Facts, Money, PageHead } from '../../../kit/pages/components';
import { Field, TableField } from '../../../kit/pages/forms';
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
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { faultText } from '../../../kit/pages/fault-text';
import { COLUMNS, readSheet, type Sheet, TEMPLATE } from './sheet';
import {
  separatorOf,
  SheetFault,
  takeCorrections,
  TO_CORRECT,
  writeSheet,
} from '../../../kit/pages/sheet';
import { SheetReview } from '../../../kit/pages/sheet-review';
import { Approvals } from '../../approvals/dashboard/who-approves';
import { checkedRows, shownColumns } from './checked-rows';

const NAV = { nav: 'batches' };
/** The form reads thousands of rows. */
const LARGE = { takesLargeForm: true, cost: 'table' } as const;
const CSV = 'text/csv; charset=utf-8';

type Checked = BatchCheck & { sheet: Sheet; approvers: Approver[]; userId: string };

export function newBatchPages({ money, approvers }: DashboardServices): MerchantRoute[] {
  const check = async (visit: MerchantVisit): Promise<Checked> => {
    takeCorrections(visit.form);
    const sheet = await readSheet(visit.form.get('table') ?? '');
    const caller = await money.allowedCaller(personOf(visit));
    const input = { ...headOf(visit.form), rows: sheet.rows };
    const checked = await money.payoutBatches.check(caller, input);
    return { ...checked, sheet, approvers: await approvers(visit), userId: visit.userId };
  };
  /** The table as it was understood, or the form again. */
  const review = async (visit: MerchantVisit, refusal: Outcome<unknown>['refusal']) => {
    const { base, form: values } = visit;
    const sent = await tryTable(values, () => check(visit));
    if (sent.result === null) return refused(visit, sent);
    const body = (
      <Preview path={`${base}/batches`} values={values} check={sent.result} refusal={refusal} />
    );
    return page('Check the batch', body, { ...NAV, status: refusal?.status ?? 200 });
  };
  return [
    get('/batches/new', MAKE, (visit) => {
      const form = { values: visit.draft ?? visit.query, errors: {} };
      const body = (
        <NewBatch path={`${visit.base}/batches`} form={form} refusal={null} result={null} />
      );
      return page('Create a batch', body, NAV);
    }),
    get('/batches/template.csv', MAKE, () => ({
      kind: 'download',
      name: 'batch-template.csv',
      type: CSV,
      content: [TEMPLATE],
    })),
    post('/batches/new', { ...MAKE, ...LARGE }, (visit) => review(visit, null)),
    post('/batches/faults.csv', { ...MAKE, ...LARGE }, async (visit) => {
      const sent = await tryTable(visit.form, () => check(visit));
      if (sent.result === null) return refused(visit, sent);
      const separator = separatorOf(visit.form.get('table') ?? '');
      const content = [sheetToCorrect(sent.result.faults, sent.result.sheet, separator)];
      return { kind: 'download', name: 'batch-faults.csv', type: CSV, content };
    }),
    post('/batches/create', { ...MAKE, ...LARGE }, async (visit) => {
      const again = visit.mode === 'live' ? signInAgain(visit, `${visit.base}/batches/new`) : null;
      if (again !== null) return again;
      const path = `${visit.base}/batches`;
      const { form } = visit;
      const idempotencyKey = formKey(form);
      // What was corrected a moment ago has been seen by nobody.
      if (takeCorrections(form)) return review(visit, null);
      const sent = await tryTable(form, async () => {
        const caller = await money.allowedCaller(personOf(visit));
        const { rows } = await readSheet(form.get('table') ?? '');
        return createdId(() =>
          money.payoutBatches.create(caller, { ...headOf(form), rows, idempotencyKey }),
        );
      });
      if (sent.result !== null) return redirect(`${path}/${sent.result}`);
      form.set('key', nextFormKey(idempotencyKey, sent.refusal));
      return review(visit, sent.refusal);
    }),
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
function sheetToCorrect(faults: readonly RowFault[], { lines }: Sheet, separator: string): string {
  const texts = new Map(faults.map((fault) => [fault.row, faultText(fault)]));
  const rows = lines.map((line, index) => [
    ...COLUMNS.map((column) => line[column] ?? ''),
    texts.get(index + 1) ?? '',
  ]);
  return writeSheet([[...COLUMNS, TO_CORRECT], ...rows], separator);
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
  check: Checked;
  refusal: Outcome<unknown>['refusal'];
}

function Preview({ path, values, check, refusal }: PreviewProps) {
  const { faults, totals, shortage, sheet } = check;
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
      <div class="grid">
        <Totals
          totals={totals}
          lead={faults.length === 0 ? undefined : 'The rows that can be paid.'}
        />
        <Approvals {...check} otherwise="Nobody. The rows are sent once the funds are reserved." />
      </div>
      <SheetReview
        rows={checkedRows(sheet.lines, check)}
        columns={shownColumns(sheet.lines, COLUMNS)}
        values={values}
        fields={['reference', 'description']}
        check={`${path}/new`}
        create={
          isSound ? { action: `${path}/create`, label: 'Reserve the funds and create' } : null
        }
        download={faults.length === 0 ? null : `${path}/faults.csv`}
        cancel={path}
      />
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
        const money = (value: string) => <Money amount={value} currency={currency} />;
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
