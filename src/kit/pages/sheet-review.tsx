/** The rows of an uploaded table as they were understood, to be corrected in place before anything is created. */
import type { ComponentChildren } from 'preact';
import { Card } from './components';
import { formKey } from './creation';
import { EMPTY_FORM, SentAgain, TableField } from './forms';
import { Icon } from './icon';
import { cellName } from './sheet';

/** More rows do not help a person, and a page has a size; faulty rows and those with notes come first. */
const ROWS_SHOWN = 100;

export interface SheetRow {
  /** Counted from 1. */
  row: number;
  /** The cells as they were written, by column. */
  cells: Readonly<Record<string, string>>;
  /** What has to be corrected; null if nothing has. */
  fault: string | null;
  /** What a person should see although it can be paid. */
  notes: readonly string[];
  /** What the gateway made of it, by heading. */
  facts: Readonly<Record<string, ComponentChildren>>;
}

interface SheetReviewProps {
  rows: readonly SheetRow[];
  /** The columns that can be corrected. */
  columns: readonly string[];
  values: URLSearchParams;
  /** What the form sends beside the table. */
  fields: readonly string[];
  /** Checks the table again; null means that `create` does it. */
  check: string | null;
  /** Null while rows have to be corrected. */
  create: { action: string; label: ComponentChildren } | null;
  /** Downloads the table with the notes. */
  download: string | null;
  cancel: string;
}

export function SheetReview(props: SheetReviewProps) {
  const { rows, columns, values, fields, check, create, download, cancel } = props;
  const order = ({ fault, notes }: SheetRow) => (fault !== null ? 0 : notes.length > 0 ? 1 : 2);
  const shown = [...rows]
    .sort((one, other) => order(one) - order(other) || one.row - other.row)
    .slice(0, ROWS_SHOWN);
  const facts = [...new Set(shown.flatMap((row) => Object.keys(row.facts)))];
  return (
    <>
      <form method="post" action={check ?? create?.action} class="sheet">
        <input type="hidden" name="key" value={formKey(values)} />
        <SentAgain values={values} fields={fields} table />
        <Card
          title="Rows"
          lead={
            shown.length < rows.length
              ? `The first ${shown.length} of ${rows.length.toLocaleString('en')} rows. Rows to correct and rows with notes come first.`
              : 'Correct the cells here, then check again.'
          }
          flush
          action={
            download === null ? null : (
              <button class="btn" data-variant="outline" formaction={download}>
                <Icon name="download" /> Table with these notes
              </button>
            )
          }
        >
          <div class="table-scroll" tabindex={0} role="region" aria-label="Rows">
            <table class="rows grid-rows">
              <caption class="sr-only">Rows</caption>
              <thead>
                <tr>
                  <th scope="col">Row</th>
                  {[...facts, ...columns].map((name) => (
                    <th scope="col" class={name === 'destination' ? 'grid-wide' : undefined}>
                      {heading(name)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {shown.map((row) => (
                  <Row row={row} columns={columns} facts={facts} />
                ))}
              </tbody>
            </table>
          </div>
        </Card>
        <div class="actions">
          {check === null ? null : (
            <button class="btn" data-variant={create === null ? 'primary' : 'outline'}>
              Check again
            </button>
          )}
          {create === null ? null : (
            <button class="btn" formaction={create.action}>
              {create.label}
            </button>
          )}
          <a class="btn" data-variant="ghost" href={cancel}>
            Cancel
          </a>
        </div>
      </form>
      {create === null && check !== null ? (
        <OtherTable action={check} values={values} fields={fields} />
      ) : null}
    </>
  );
}

type OtherTableProps = Pick<SheetReviewProps, 'values' | 'fields'> & { action: string };

/** Another file in place of the table, such as the downloaded one after its correction. */
function OtherTable({ action, values, fields }: OtherTableProps) {
  return (
    <details class="confirm">
      <summary class="btn" data-variant="outline">
        <Icon name="upload" /> Choose a corrected file …
      </summary>
      <form method="post" action={action} class="confirm-body">
        <input type="hidden" name="key" value={formKey(values)} />
        <SentAgain values={values} fields={fields} table={false} />
        <TableField label="Table" form={EMPTY_FORM} />
        <button class="btn">Check this table</button>
      </form>
    </details>
  );
}

interface RowProps extends Pick<SheetReviewProps, 'columns'> {
  row: SheetRow;
  facts: readonly string[];
}

function Row({ row: { row, cells, fault, notes, facts: known }, columns, facts }: RowProps) {
  const noted = [fault ?? [], notes].flat();
  return (
    <>
      <tr data-tone={fault !== null ? 'bad' : notes.length > 0 ? 'wait' : undefined}>
        <td data-label="Row">{row}</td>
        {facts.map((name) => (
          <td data-label={name}>{known[name]}</td>
        ))}
        {columns.map((name) => (
          <td data-label={heading(name)}>
            <input
              class="input"
              name={cellName(row, name)}
              value={cells[name] ?? ''}
              title={cells[name]}
              aria-label={`${heading(name)}, row ${row}`}
              aria-describedby={noted.length === 0 ? undefined : `row-${row}-notes`}
              autocomplete="off"
              spellcheck={false}
            />
          </td>
        ))}
      </tr>
      {noted.length === 0 ? null : (
        <tr class="row-notes" data-tone={fault !== null ? 'bad' : 'wait'}>
          <td colspan={1 + columns.length + facts.length} id={`row-${row}-notes`}>
            {noted.map((text) => (
              <div>{text}</div>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

function heading(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
