/** The audit log as a page: everything for operators, an account's for its owner. */
import { AUDIT_SOURCES, type AuditEntry, type AuditQuery } from '../audit-log';
import type { ListPosition } from '../../../kit/service/services';
import { Empty, Table, Time, words } from '../../../kit/pages/components';
import { chosen, daysOf, ListPage, PER_PAGE, positionOf, textOf } from '../../../kit/pages/lists';

/** The query of the URL. */
export function auditQueryOf(query: URLSearchParams): AuditQuery {
  const { createdFrom, createdTo } = daysOf(query);
  const beforeId = positionOf(query)?.id;
  return {
    actor: textOf(query, 'by'),
    action: textOf(query, 'action'),
    objectId: textOf(query, 'object'),
    accountId: textOf(query, 'account'),
    via: chosen(query, 'via', AUDIT_SOURCES),
    since: createdFrom,
    until: createdTo,
    // The id of an entry is a number.
    beforeId: beforeId !== undefined && /^\d{1,18}$/.test(beforeId) ? beforeId : undefined,
    limit: PER_PAGE,
  };
}

interface AuditPageProps {
  title: string;
  lead: string;
  path: string;
  query: URLSearchParams;
  entries: readonly AuditEntry[];
  next: ListPosition | null;
  /** Operators see all accounts; null if the page is of one account. */
  accountHref: ((id: string) => string) | null;
}

export function AuditPage({
  title,
  lead,
  path,
  query,
  entries,
  next,
  accountHref,
}: AuditPageProps) {
  const isAll = accountHref !== null;
  return (
    <ListPage
      title={title}
      lead={lead}
      what="entries"
      path={path}
      query={query}
      options={isAll ? [['via', 'Source', AUDIT_SOURCES]] : []}
      texts={[
        ['by', 'Person'],
        ['action', 'Action'],
        ['object', 'Object ID'],
        ...(isAll ? ([['account', 'Account ID']] as const) : []),
      ]}
      next={next}
      none={
        <Empty icon="scroll-text" title="No entries yet">
          <p>Each change of keys, webhooks, users and settings appears here.</p>
        </Empty>
      }
      table={(empty) => <AuditTable entries={entries} accountHref={accountHref} empty={empty} />}
    />
  );
}

interface AuditTableProps {
  entries: readonly AuditEntry[];
  accountHref: AuditPageProps['accountHref'];
  empty: Parameters<typeof Table>[0]['empty'];
}

export function AuditTable({ entries, accountHref, empty }: AuditTableProps) {
  return (
    <Table
      caption="Audit log"
      rows={entries}
      empty={empty}
      columns={[
        {
          label: 'Person',
          cell: ({ at, actor, via, address }) => (
            <>
              <span class="break">{actor}</span>
              <small>
                <Time at={at} seconds />
              </small>
              <small>{[SOURCES[via ?? 'unknown'], address].filter(Boolean).join(', ')}</small>
            </>
          ),
        },
        {
          label: 'Action',
          cell: ({ action, objectId, accountId }) => (
            <>
              {words(action)}
              <small class="break">{objectId}</small>
              {accountHref === null || accountId === null || objectId === accountId ? null : (
                <small class="break">
                  <a href={accountHref(accountId)}>{accountId}</a>
                </small>
              )}
            </>
          ),
        },
        {
          label: 'Change',
          cell: ({ before, after, reason }) => (
            <>
              {changesOf(before, after).map((line) => (
                <small class="break">{line}</small>
              ))}
              {reason === null ? null : <span class="break">{reason}</span>}
            </>
          ),
        },
      ]}
    />
  );
}

const SOURCES = {
  console: 'Console',
  dashboard: 'Dashboard',
  api: 'API key',
  admin: 'Admin command',
  signal: 'Signal',
  gateway: 'Gateway',
  unknown: '',
} as const;

const LINES_MAX = 6;
const VALUE_LENGTH_MAX = 120;
const NONE = 'none';
/** Fields that are left out, because they change with every change or are the object itself. */
const OMITTED = ['id', 'object', 'updated_at', 'created_at', 'account_id'];

/** `status: active → suspended`, for each field that changed. */
export function changesOf(before: object | null, after: object | null): string[] {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...from.keys(), ...to.keys()])].filter(
    (name) => !OMITTED.includes(name) && (from.get(name) ?? NONE) !== (to.get(name) ?? NONE),
  );
  const lines = names.map((name) => {
    if (before === null) return `${words(name)}: ${to.get(name) ?? ''}`;
    return `${words(name)}: ${from.get(name) ?? NONE} → ${to.get(name) ?? NONE}`;
  });
  const rest = lines.length - LINES_MAX;
  return rest > 0 ? [...lines.slice(0, LINES_MAX), `and ${rest} more`] : lines;
}

function fieldsOf(state: object | null): Map<string, string> {
  const entries = Object.entries(state ?? {}) as [string, unknown][];
  return new Map(
    entries.map(([name, value]) => [name, textOfValue(value).slice(0, VALUE_LENGTH_MAX)]),
  );
}

function textOfValue(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return NONE;
  if (typeof value === 'string') return value;
  const isListOfText = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return isListOfText ? value.join(', ') : JSON.stringify(value);
}
