/** What the lists of payments, payouts and transactions share: filters and pages in the URL. */
import type { ComponentChildren } from 'preact';
import type { ListPosition } from '../service/services';
import type { ExportKind } from '../../domain/bookkeeping';
import { parseIsoTime } from '../../domain/iso-time';
import { camelCase, type QueryParameters, type Values } from '../api/query';
import { Card, PageHead, Pager, words } from './components';
import { EMPTY_FORM, Field, Select } from './forms';
import { Fold } from './fold';
import { Icon } from './icon';
import { PageRefusal } from './problems';

export const PER_PAGE = 25;

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)~(\w{1,40})$/;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Where the page starts; what is no position starts the first page. */
export function positionOf(query: URLSearchParams): ListPosition | null {
  const [, createdAt, id] = POSITION.exec(query.get('after') ?? '') ?? [];
  if (createdAt === undefined || id === undefined) return null;
  return parseIsoTime(createdAt, 'from') === null ? null : { createdAt, id };
}

/** One of the known values; undefined without one. @throws PageRefusal for any other */
export function chosen<Value extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly Value[],
): Value | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const found = known.find((value) => value === text);
  if (found === undefined) throw new PageRefusal('invalid_filter');
  return found;
}

export function textOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim() ?? '';
  return text === '' ? undefined : text.slice(0, 200);
}

/** The days of a filter as times; the last day is included. @throws PageRefusal for what is no day */
export function daysOf(query: URLSearchParams): { createdFrom?: string; createdTo?: string } {
  const time = (bound: 'from' | 'to') => {
    const text = query.get(bound) ?? '';
    const at = DATE.test(text) ? parseIsoTime(text, bound) : null;
    if (at === null && text !== '') throw new PageRefusal('invalid_filter');
    return at;
  };
  const [from, to] = [time('from'), time('to')];
  return {
    ...(from === null ? {} : { createdFrom: from }),
    ...(to === null ? {} : { createdTo: to }),
  };
}

/** The parameters of a list in the API that have a field on its page. */
function labelled(parameters: QueryParameters) {
  return Object.entries(parameters).flatMap(([name, parameter]) =>
    parameter.label === undefined ? [] : [{ name, label: parameter.label, parameter }],
  );
}

/**
 * What the fields of a list's page and its days ask for. A text that the API would refuse is found nowhere.
 * @throws PageRefusal for a value that is not one of the list's
 */
export function filtersOf<Parameters extends QueryParameters>(
  parameters: Parameters,
  query: URLSearchParams,
): Values<Parameters> {
  const values = labelled(parameters).flatMap(({ name, parameter }) => {
    const text = textOf(query, name);
    if (text === undefined) return [];
    const value = parameter.parse(text) ?? parameter.parse(text.toUpperCase());
    if (value === undefined && parameter.values !== undefined)
      throw new PageRefusal('invalid_filter');
    return [[camelCase(name), value ?? text]];
  });
  return { ...Object.fromEntries(values), ...daysOf(query) } as Values<Parameters>;
}

/** The fields of these parameters. */
export function controlsOf(parameters: QueryParameters): Pick<FiltersProps, 'options' | 'texts'> {
  const all = labelled(parameters);
  return {
    options: all.flatMap(({ name, label, parameter: { values } }) =>
      values === undefined ? [] : [[name, label, values] as const],
    ),
    texts: all.flatMap(({ name, label, parameter: { values } }) =>
      values === undefined ? [[name, label] as const] : [],
    ),
  };
}

interface ListPageProps extends FiltersProps, ListPagerProps {
  title: string;
  lead: ComponentChildren;
  /** The plural of a row, by default the title. */
  what?: string;
  /** What stands beside the title. */
  children?: ComponentChildren;
  /** What is shown without any row and without a filter. */
  none: ComponentChildren;
  table: (empty: ComponentChildren) => ComponentChildren;
}

export function ListPage({ title, lead, children, none, table, ...list }: ListPageProps) {
  const { path, query, next, what = title.toLowerCase(), ...filters } = list;
  return (
    <>
      <PageHead title={title} lead={lead}>
        {children}
      </PageHead>
      <Filters path={path} query={query} {...filters} />
      <Card flush>{table(isFiltered(query) ? <NoMatch path={path} what={what} /> : none)}</Card>
      <ListPager path={path} query={query} next={next} />
    </>
  );
}

/** The button beside a list's title that leads to the form. */
export function CreateLink({ path, label }: { path: string; label: string }) {
  return (
    <a class="btn" href={`${path}/new`}>
      <Icon name="plus" /> {label}
    </a>
  );
}

/** The button beside a list's title that leads to its export, with the currency and the days of the filters. */
export function ToExport(props: { base: string; kind: ExportKind; query: URLSearchParams }) {
  const { base, kind, query } = props;
  const kept = ['currency', 'from', 'to'].flatMap((name) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return (
    <a
      class="btn"
      data-variant="outline"
      href={`${base}/exports?${new URLSearchParams([['kind', kind], ...kept]).toString()}`}
    >
      <Icon name="download" /> Export
    </a>
  );
}

/** The filters of the dashboard's lists that have a reference. */
export const OBJECT_TEXTS = [
  ['currency', 'Currency'],
  ['reference', 'Reference'],
] as const;

interface FilterFormProps {
  path: string;
  query: URLSearchParams;
  children: ComponentChildren;
}

/** A form with GET: a filter is a link that can be kept and sent. */
export function FilterForm({ path, query, children }: FilterFormProps) {
  return (
    <div>
      <Fold id="filters" label="Filters" icon="filter" isOpen={isFiltered(query)} />
      <form class="filters" action={path}>
        {children}
        <button class="btn" data-variant="outline">
          Filter
        </button>
        {isFiltered(query) ? (
          <a class="btn" data-variant="ghost" href={path}>
            Clear
          </a>
        ) : null}
      </form>
    </div>
  );
}

interface FiltersProps {
  path: string;
  query: URLSearchParams;
  /** `unset` is the label of no value, by default All. */
  options: readonly (readonly [
    name: string,
    label: string,
    values: readonly string[],
    unset?: string,
  ])[];
  texts: readonly (readonly [name: string, label: string])[];
  /** From and to; by default they are there. */
  days?: boolean;
}

export function Filters({ path, query, options, texts, days = true }: FiltersProps) {
  const form = { ...EMPTY_FORM, values: query };
  return (
    <FilterForm path={path} query={query}>
      {options.map(([name, label, values, unset = 'All']) => (
        <Select
          name={name}
          label={label}
          form={form}
          options={[['', unset], ...values.map((value) => [value, words(value)] as const)]}
        />
      ))}
      {texts.map(([name, label]) => (
        <Field name={name} label={label} form={form} maxLength={200} />
      ))}
      {days ? <Field name="from" label="From (UTC)" type="date" form={form} /> : null}
      {days ? <Field name="to" label="To (UTC)" type="date" form={form} /> : null}
    </FilterForm>
  );
}

interface ListPagerProps {
  path: string;
  query: URLSearchParams;
  next: ListPosition | null;
}

export function ListPager({ path, query, next }: ListPagerProps) {
  const link = (after: string | null) => {
    const kept = new URLSearchParams([...query].filter(([name]) => name !== 'after'));
    if (after !== null) kept.set('after', after);
    const text = kept.toString();
    return text === '' ? path : `${path}?${text}`;
  };
  return (
    <Pager
      first={query.has('after') ? link(null) : null}
      next={next === null ? null : link(`${next.createdAt}~${next.id}`)}
    />
  );
}

/** Whether a filter explains an empty list. */
export function isFiltered(query: URLSearchParams): boolean {
  return [...query].some(([, value]) => value !== '');
}

export function NoMatch({ path, what }: { path: string; what: string }): ComponentChildren {
  return (
    <div class="nothing">
      <p>
        <b>No {what} match these filters</b>
      </p>
      <p>
        <a href={path}>Clear the filters</a>
      </p>
    </div>
  );
}
