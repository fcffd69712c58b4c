/** The parts that pages are made of, but for forms (forms.tsx). Everything works without JavaScript. */
import type { ComponentChildren } from 'preact';
import type { Mode } from '../../domain/mode';
import { reviewReasonSentence, type ReviewReason } from '../../domain/review';
import { personText, words } from '../service/words';

export { personText, words };
import { Icon } from './icon';

interface Crumb {
  href: string;
  label: string;
}

interface HeadProps {
  title: ComponentChildren;
  lead?: ComponentChildren;
  /** The pages above this one, the highest first. */
  back?: Crumb | readonly Crumb[];
  /** The page itself among them, by default its title. */
  here?: string;
  /** Buttons. */
  children?: ComponentChildren;
}

export function PageHead({ title, lead, back = [], here, children }: HeadProps) {
  const above = 'href' in back ? [back] : back;
  const current = here ?? (typeof title === 'string' ? title : null);
  return (
    <header class="page-head">
      <div>
        {above.length === 0 ? null : (
          <nav class="crumb" aria-label="Breadcrumb">
            <ol>
              {above.map(({ href, label }) => (
                <li>
                  <a href={href}>{label}</a>
                </li>
              ))}
              {current === null ? null : <li aria-current="page">{current}</li>}
            </ol>
          </nav>
        )}
        <h1>{title}</h1>
        {lead === undefined ? null : <p class="muted lead">{lead}</p>}
      </div>
      <div class="actions">{children}</div>
    </header>
  );
}

interface CardProps {
  title?: ComponentChildren;
  lead?: ComponentChildren;
  id?: string;
  /** Without padding: a table. */
  flush?: boolean;
  action?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ title, lead, id, flush = false, action, children }: CardProps) {
  return (
    <section class={flush ? 'box flush' : 'box'} id={id}>
      {title === undefined ? null : (
        <div class="box-head">
          <div>
            <h2>{title}</h2>
            {lead === undefined ? null : <p class="muted">{lead}</p>}
          </div>
          {action}
        </div>
      )}
      {children}
    </section>
  );
}

const TONES: Readonly<Record<string, 'good' | 'busy' | 'wait' | 'bad' | 'quiet'>> = {
  completed: 'good',
  succeeded: 'good',
  working: 'good',
  enabled: 'good',
  healthy: 'good',
  active: 'good',
  resolved: 'good',
  done: 'good',
  approved: 'busy',
  processing: 'busy',
  pending: 'busy',
  requested: 'busy',
  created: 'busy',
  under_review: 'wait',
  clear: 'good',
  review: 'wait',
  some_failed: 'wait',
  block: 'bad',
  no_answer: 'wait',
  on_hold: 'wait',
  underpaid: 'wait',
  awaits_address: 'wait',
  open: 'wait',
  paused: 'wait',
  failed: 'bad',
  failing: 'bad',
  no_worker: 'bad',
  low: 'bad',
  rejected: 'bad',
  suspended: 'bad',
  revoked: 'bad',
};

/** A status as a person reads it: `under_review` is "Under review". */
export function Status({ value }: { value: string }) {
  return (
    <span class="status" data-tone={TONES[value] ?? 'quiet'}>
      {words(value)}
    </span>
  );
}

/** Without the zeros at its end, so that it is exact and short. The tooltip has all decimals. */
export function Money({ amount, currency }: { amount: string; currency: string }) {
  return (
    <span class="money" title={`${amount} ${currency}`}>
      <b>{group(short(amount))}</b> <span class="muted">{currency}</span>
    </span>
  );
}

/** At least two decimals, and no zeros after them. */
function short(amount: string): string {
  return amount.replace(/(\.\d{2}\d*?)0+$/, '$1');
}

function group(amount: string): string {
  const [whole = '', decimals] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',').replace('-', '−');
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** A sentence that breaks between its words, and not at the hyphens of a reference in it. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/(\S+-\S+)/)
        .map((part, index) => (index % 2 === 0 ? part : <span class="reference">{part}</span>))}
    </>
  );
}

/** In UTC; with JavaScript the tooltip has the local time as well, or the text has it if the person wants it. */
export function Time({ at, seconds = false }: { at: Date; seconds?: boolean }) {
  const iso = at.toISOString();
  return (
    <time datetime={iso} title={iso} data-seconds={seconds ? 'shown' : ''}>
      {iso.slice(0, 10)} {iso.slice(11, seconds ? 19 : 16)}
      <span class="muted"> UTC</span>
    </time>
  );
}

export function Id({ value }: { value: string }) {
  return (
    <span class="id">
      <code>{value}</code>
      <CopyButton value={value} label={`Copy ${value}`} />
    </span>
  );
}

export function CopyButton({ value, label }: { value: string; label: string }) {
  return (
    <button
      type="button"
      class="btn js-only copy"
      data-variant="ghost"
      data-size="icon-xs"
      data-copy={value}
      aria-label={label}
      title={label}
    >
      <Icon name="copy" />
    </button>
  );
}

/** Names and values, one below the other. A value of null is left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export interface Column<Row> {
  label: string;
  cell: (row: Row) => ComponentChildren;
  /** Amounts. */
  right?: boolean;
  /** Not on a phone. */
  wide?: boolean;
}

interface TableProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  caption: string;
  empty: ComponentChildren;
  /** Rows that follow each other with the same text stand below it. */
  groupOf?: ((row: Row) => string) | undefined;
}

export function Table<Row>({ rows, columns, caption, empty, groupOf }: TableProps<Row>) {
  if (rows.length === 0) return <div class="empty-box">{empty}</div>;
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label={caption}>
      <table class="rows">
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={columnClass(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <>
              <GroupRow row={row} before={rows[index - 1]} {...{ groupOf, columns }} />
              <tr>
                {columns.map((column) => (
                  <td class={columnClass(column)} data-label={column.label}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            </>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface GroupRowProps<Row> extends Pick<TableProps<Row>, 'columns' | 'groupOf'> {
  row: Row;
  before: Row | undefined;
}

function GroupRow<Row>({ row, before, groupOf, columns }: GroupRowProps<Row>) {
  const text = groupOf?.(row);
  if (text === undefined || (before !== undefined && groupOf?.(before) === text)) return null;
  return (
    <tr class="group">
      <th scope="rowgroup" colSpan={columns.length}>
        {text}
      </th>
    </tr>
  );
}

function columnClass({ right, wide }: { right?: boolean; wide?: boolean }): string {
  return [right === true ? 'right' : '', wide === true ? 'wide' : ''].join(' ').trim();
}

interface EmptyProps {
  icon: string;
  title: string;
  children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="nothing">
      <Icon name={icon} />
      <p>
        <b>{title}</b>
      </p>
      {children}
    </div>
  );
}

/** @param next of the next page; null on the last one */
export function Pager({ first, next }: { first: string | null; next: string | null }) {
  if (first === null && next === null) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first === null ? (
        <span />
      ) : (
        <a class="btn" data-variant="outline" data-size="sm" href={first}>
          First page
        </a>
      )}
      {next === null ? (
        <span />
      ) : (
        <a class="btn" data-variant="outline" data-size="sm" href={next} rel="next">
          Next page <Icon name="arrow-right" />
        </a>
      )}
    </nav>
  );
}

interface AlertProps {
  tone: 'good' | 'bad' | 'wait' | 'note';
  title: ComponentChildren;
  children?: ComponentChildren;
}

const ALERT_ICONS = {
  good: 'circle-check',
  bad: 'circle-alert',
  wait: 'clock',
  note: 'info',
} as const;

export function Alert({ tone, title, children }: AlertProps) {
  return (
    <div class="note" data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={ALERT_ICONS[tone]} />
      <div>
        <b>{title}</b>
        {children === undefined ? null : <div>{children}</div>}
      </div>
    </div>
  );
}

/** Above a form that was kept when a sign-in was asked for. @param signedIn whether the person then did sign in */
export function KeptForm({ signedIn }: { signedIn: boolean }) {
  return (
    <Alert
      tone="note"
      title={`${signedIn ? 'You signed in again. ' : ''}Nothing has been changed yet.`}
    >
      <p>Check the form and send it again.</p>
    </Alert>
  );
}

/** A secret that is shown once. */
export function Secret({ value, label }: { value: string; label: string }) {
  return (
    <div class="secret">
      <code>{value}</code>
      <button type="button" class="btn js-only" data-variant="outline" data-copy={value}>
        <Icon name="copy" /> {label}
      </button>
    </div>
  );
}

export function ModeBanner({ mode, switchTo }: { mode: Mode; switchTo: string }) {
  return mode === 'test' ? (
    <p class="mode" data-mode="test">
      <b>Test mode</b> No real money moves. <a href={switchTo}>Switch to live</a>
    </p>
  ) : (
    <p class="mode" data-mode="live">
      <b>Live mode</b> Real money moves. <a href={switchTo}>Switch to test</a>
    </p>
  );
}

/** @param requester the API key or the user that requested it, if it is at hand */
export function ReviewReasons(props: {
  reasons: readonly ReviewReason[];
  requester: string | null;
}) {
  return (
    <ul>
      {props.reasons.map((reason) => (
        <li>{reviewReasonSentence(reason, props.requester)}</li>
      ))}
    </ul>
  );
}

/** The metadata of an object, as rows of its facts. */
export function metadataRows(metadata: Record<string, string>): (readonly [string, string])[] {
  return Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value] as const);
}
