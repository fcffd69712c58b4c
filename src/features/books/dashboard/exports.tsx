/** Exports for finance, and how the account keeps its books. */
import {
  EXPORT_FORMATS,
  EXPORTS,
  type Bookkeeping,
  type ExportFormat,
  type ExportKind,
  needsOf,
} from '../../../domain/bookkeeping';
import { bookkeepingForm, changeBookkeeping } from '../bookkeeping';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import { Field, FormActions, type FormState, Select } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { chosen, textOf } from '../../../kit/pages/lists';
import { page, redirect } from '../../../kit/pages/site';
import { get, type MerchantRoute, type MerchantVisit } from '../../../kit/pages/merchant-page';
import { periodOf } from './period';
import { reconcilePages } from './reconcile';

const NAV = { nav: 'exports' };

const KINDS: readonly (readonly [ExportKind, string])[] = [
  ['transactions', 'Transactions: every change of a balance'],
  ['payments', 'Payments'],
  ['payouts', 'Payouts'],
  ['refunds', 'Refunds'],
  ['batches', 'Batches'],
  ['fees', 'Fees'],
  ['journal', 'Journal: debits and credits for each day'],
];

const FORMATS: readonly (readonly [ExportFormat, string])[] = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['xero', 'Xero manual journal (journal of one currency)'],
  ['quickbooks', 'QuickBooks journal entries (journal)'],
  ['beancount', 'Beancount (journal)'],
  ['hledger', 'hledger (journal)'],
  ['camt053', 'Bank statement camt.053 (transactions of one currency)'],
];

export function exportPages(services: DashboardServices): MerchantRoute[] {
  const { db, bookkeeping } = services;
  return [
    ...reconcilePages(services),
    get('/exports', 'read', async (visit) => {
      const form = { values: visit.query, errors: {} };
      return exportPage(visit, await bookkeeping(visit), form);
    }),
    get('/exports/file', { cost: 'export', needs: 'read' }, async (visit) => {
      const books = await bookkeeping(visit);
      const { request, errors } = requestOf(visit.query, books);
      if (request === null) {
        return { ...exportPage(visit, books, { values: visit.query, errors }), status: 422 };
      }
      return { kind: 'download', ...services.exportFile(visit, books, request) };
    }),
    ...merchantForm({
      path: '/bookkeeping',
      ...changeBookkeeping.access,
      values: async (visit) => new URLSearchParams(bookkeepingForm(await bookkeeping(visit))),
      show: ({ base }, form) => page('Bookkeeping', <Books base={base} form={form} />, NAV),
      send: async ({ accountId, by, form, base }) => {
        const input = readFields(changeBookkeeping, form);
        await changeBookkeeping.make(db, by, { accountId }, input);
        return redirect(`${base}/exports`);
      },
    }),
  ];
}

function requestOf(query: URLSearchParams, { timeZone }: Bookkeeping) {
  const { errors, ...period } = periodOf(query, timeZone);
  const kind = chosen(query, 'kind', EXPORTS) ?? 'transactions';
  const format = chosen(query, 'format', EXPORT_FORMATS) ?? 'csv';
  const currency = textOf(query, 'currency')?.toUpperCase();
  const needs = needsOf(format);
  if (needs.kind !== undefined && kind !== needs.kind) {
    errors['format'] =
      `This format is for the ${needs.kind}. Choose the ${needs.kind}, CSV or JSON.`;
  }
  if (needs.currency && currency === undefined) {
    errors['currency'] = 'Enter a currency: a file of this format has one.';
  }
  const request = { kind, format, ...(currency === undefined ? {} : { currency }), ...period };
  return { request: Object.keys(errors).length === 0 ? request : null, errors };
}

function exportPage(visit: MerchantVisit, books: Bookkeeping, form: FormState) {
  return page('Exports', <Exports visit={visit} books={books} form={form} />, NAV);
}

interface ExportsProps {
  visit: MerchantVisit;
  books: Bookkeeping;
  form: FormState;
}

function Exports({ visit, books, form }: ExportsProps) {
  const { base } = visit;
  return (
    <>
      <PageHead
        title="Exports"
        lead="Files for accounting. Amounts are exact. In every file, the gross amount minus the fees is the net amount."
      >
        <a class="btn" data-variant="outline" href={`${base}/reconcile`}>
          <Icon name="list-checks" /> Compare records
        </a>
        {visit.may(changeBookkeeping.access.needs) ? (
          <a class="btn" data-variant="outline" href={`${base}/bookkeeping`}>
            <Icon name="book-open" /> Bookkeeping
          </a>
        ) : null}
      </PageHead>
      <Card>
        <form action={`${base}/exports/file`} class="stack">
          <Select name="kind" label="Export" form={form} options={KINDS} />
          <Select name="format" label="Format" form={form} options={FORMATS} />
          <Field
            name="currency"
            label="Currency"
            hint="Leave empty for every currency."
            placeholder="USDT"
            form={form}
          />
          <Field name="from" label="First day" type="date" form={form} />
          <Field
            name="to"
            label="Last day"
            type="date"
            hint={`Days and times are those of ${books.timeZone}.`}
            form={form}
          />
          <div class="actions">
            <button class="btn">
              <Icon name="download" /> Download
            </button>
          </div>
        </form>
      </Card>
    </>
  );
}

function Books({ base, form }: { base: string; form: FormState }) {
  return (
    <>
      <PageHead
        back={{ href: `${base}/exports`, label: 'Exports' }}
        title="Bookkeeping"
        lead="The time zone of your exports, and the accounts of your accounting program that the journal names."
      />
      <Card>
        <form method="post" action={`${base}/bookkeeping`} class="stack">
          <p class="muted">
            Enter account codes for Xero, and account names for QuickBooks, Beancount and hledger.
            If a field is empty, the journal uses the name that the field shows.
          </p>
          <ChangeFields change={changeBookkeeping} form={form} />
          <FormActions submit="Save" cancel={`${base}/exports`} />
        </form>
      </Card>
    </>
  );
}
