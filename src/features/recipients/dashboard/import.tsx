/** Recipients from a table: every faulty row first, then all of them. */
import type { RowFault } from '../../../domain/batch-terms';
import { ApiError } from '../../../domain/errors';
import type { RecipientRequest } from '../../../domain/recipient';
import { readRecipientRequest } from '../recipients-contract';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { createdId } from '../../../shell/dashboard/money';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { FormActions, TableField } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { page, redirect } from '../../../kit/pages/site';
import { faultText, rowFault } from '../../../kit/pages/fault-text';
import {
  destinationCells,
  readLines,
  SheetFault,
  takeCorrections,
  writeSheet,
} from '../../../kit/pages/sheet';
import { SheetReview, type SheetRow } from '../../../kit/pages/sheet-review';
import { formKey, MAKE, personOf } from '../../../kit/pages/creation';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';

const NAV = { nav: 'recipients' };
const ROWS_MAX = 1_000;
const REQUIRED = ['name', 'currency', 'destination'];
const COLUMNS = [...REQUIRED, 'network', 'memo', 'type', 'tags'];
const TEMPLATE = writeSheet([
  COLUMNS,
  [
    'Ada Lovelace',
    'USDT',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    'tron',
    '',
    'crypto_address',
    'payroll',
  ],
]);
const CSV = 'text/csv; charset=utf-8';
const LARGE = { takesLargeForm: true, cost: 'table' } as const;

interface Sent {
  values: URLSearchParams;
  /** The rows as they were written. */
  lines: readonly Record<string, string>[];
  faults: readonly RowFault[];
  /** What is wrong with the table as a whole. */
  problem: string | null;
}

export function importPages({ money }: DashboardServices): MerchantRoute[] {
  /** Creates the rows one by one. A table that is sent again continues where it stopped. */
  const importRows = async (visit: MerchantVisit): Promise<Sent | null> => {
    const values = visit.form;
    takeCorrections(values);
    const key = formKey(values);
    values.set('key', key);
    let read: ReturnType<typeof readRows>;
    try {
      read = readRows(values.get('table') ?? '');
    } catch (error) {
      if (!(error instanceof SheetFault)) throw error;
      return { values, lines: [], faults: [], problem: error.message };
    }
    const { lines, rows } = read;
    const caller = await money.allowedCaller(personOf(visit));
    const faults: RowFault[] = [];
    for (const [index, row] of rows.entries()) {
      const refusal = 'refusal' in row ? row.refusal : await money.recipients.check(caller, row);
      if (refusal !== null) faults.push({ row: index + 1, reference: nameOf(row), refusal });
    }
    if (faults.length > 0) return { values, lines, faults, problem: null };
    for (const [index, row] of rows.entries()) {
      if ('refusal' in row) continue;
      const input = { idempotencyKey: `${key}:${index + 1}`, request: row };
      await createdId(() => money.recipients.create(caller, visit.by, input));
    }
    return null;
  };
  return [
    get('/recipients/template.csv', MAKE, () => ({
      kind: 'download',
      name: 'recipients-template.csv',
      type: CSV,
      content: [TEMPLATE],
    })),
    get('/recipients/import', MAKE, (visit) => {
      const values = visit.draft ?? visit.query;
      const body = (
        <Import base={visit.base} values={values} lines={[]} faults={[]} problem={null} />
      );
      return page('Import recipients', body, NAV);
    }),
    post(
      '/recipients/import',
      { ...MAKE, ...LARGE, liveRecent: ({ base }) => `${base}/recipients/import` },
      async (visit) => {
        const refused = await importRows(visit);
        if (refused === null) return redirect(`${visit.base}/recipients`);
        const body = <Import base={visit.base} {...refused} />;
        return page('Import recipients', body, { ...NAV, status: 422 });
      },
    ),
  ];
}

/** @throws SheetFault */
function readRows(text: string) {
  const lines = readLines(text, { columns: COLUMNS, required: REQUIRED, rowsMax: ROWS_MAX });
  const rows = lines.map((line, index): RecipientRequest | RowFault => {
    const filled = (name: string) => ((line[name] ?? '') === '' ? {} : { [name]: line[name] });
    const tags = (line['tags'] ?? '').split(/[\s,;]+/).filter((tag) => tag !== '');
    const request = {
      ...filled('name'),
      ...filled('currency'),
      ...filled('network'),
      destination: destinationCells(line),
      tags,
    };
    try {
      return readRecipientRequest(request);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return rowFault(index + 1, line['name'] ?? null, error);
    }
  });
  return { lines, rows };
}

function nameOf(row: RecipientRequest | RowFault): string | null {
  return 'refusal' in row ? row.reference : row.name;
}

function Import({ base, values, lines, faults, problem }: Sent & { base: string }) {
  const path = `${base}/recipients`;
  const errors: Record<string, string> = problem === null ? {} : { table: problem };
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Recipients' }}
        title="Import recipients"
        lead="All rows are added, or none of them."
      >
        <a class="btn" data-variant="outline" href={`${path}/template.csv`}>
          <Icon name="download" /> Template
        </a>
      </PageHead>
      {faults.length === 0 ? (
        <Card>
          <form method="post" action={`${path}/import`} class="stack">
            <input type="hidden" name="key" value={formKey(values)} />
            <TableField
              label="Table"
              hint={`At most ${ROWS_MAX.toLocaleString('en')} rows below the headings ${COLUMNS.join(', ')}. Columns are separated by commas, semicolons or tabs.`}
              form={{ values, errors }}
            />
            <FormActions submit="Add the recipients" cancel={path} />
          </form>
        </Card>
      ) : (
        <>
          <Alert
            tone="bad"
            title={`${faults.length.toLocaleString('en')} rows must be corrected. Nothing was added.`}
          />
          <SheetReview
            rows={rowsOf(lines, faults)}
            columns={COLUMNS}
            values={values}
            fields={[]}
            check={null}
            create={{ action: `${path}/import`, label: 'Add the recipients' }}
            download={null}
            cancel={path}
          />
        </>
      )}
    </>
  );
}

function rowsOf(lines: Sent['lines'], faults: Sent['faults']): SheetRow[] {
  const texts = new Map(faults.map((fault) => [fault.row, faultText(fault)]));
  return lines.map((cells, index) => ({
    ...{ row: index + 1, cells, fault: texts.get(index + 1) ?? null },
    ...{ notes: [], facts: {} },
  }));
}
