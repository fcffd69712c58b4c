/** The log of API requests: the list with its filters, and one request. */
import { isId } from '../../../domain/ids';
import {
  type DashboardServices,
  KEPT_DAYS,
  type LoggedRequest,
  type RequestDetail,
  type ReusedKey,
} from '../../../shell/dashboard/services';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  PageHead,
  Table,
  Time,
} from '../../../kit/pages/components';
import { EMPTY_FORM, Field, Select } from '../../../kit/pages/forms';
import {
  chosen,
  FilterForm,
  isFiltered,
  ListPager,
  NoMatch,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../../kit/pages/lists';
import { page, redirect } from '../../../kit/pages/site';
import { get, type MerchantRoute } from '../../../kit/pages/merchant-page';
import { objectPath } from '../../../kit/pages/object-pages';
import { indented } from './indented';

const NAV = { nav: 'requests' };
const CLASSES = ['2xx', '4xx', '5xx'] as const;
const METHODS = ['GET', 'POST'] as const;

export function requestPages({ requests, request }: DashboardServices): MerchantRoute[] {
  return [
    get('/requests', 'read', async (visit) => {
      const { query, base } = visit;
      const id = textOf(query, 'id') ?? '';
      if (isId('request', id)) return redirect(`${base}/requests/${id}`);
      const status = chosen(query, 'status', CLASSES);
      const method = chosen(query, 'method', METHODS);
      const path = textOf(query, 'path');
      const filters = {
        ...(status === undefined ? {} : { statusClass: Number(status.charAt(0)) }),
        ...(method === undefined ? {} : { method }),
        ...(path === undefined ? {} : { path }),
      };
      const list = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await requests(visit, list);
      return page(
        'Request log',
        <>
          <PageHead
            title="Request log"
            lead={`The requests of your API keys in the last ${KEPT_DAYS} days.`}
          />
          <RequestFilters path={`${base}/requests`} query={query} />
          <Card flush>
            <RequestTable rows={items} path={`${base}/requests`} isFiltered={isFiltered(query)} />
          </Card>
          <ListPager path={`${base}/requests`} query={query} next={next} />
        </>,
        NAV,
      );
    }),
    get('/requests/:id', 'read', async (visit) => {
      const found = await request(visit, visit.id);
      const body = <RequestPage request={found} base={visit.base} />;
      return page(`${found.method} ${found.path}`, body, NAV);
    }),
  ];
}

function RequestFilters({ path, query }: { path: string; query: URLSearchParams }) {
  const form = { ...EMPTY_FORM, values: query };
  const all = (values: readonly string[]) => [
    ['', 'All'] as const,
    ...values.map((value) => [value, value] as const),
  ];
  return (
    <FilterForm path={path} query={query}>
      <Select name="status" label="Status" form={form} options={all(CLASSES)} />
      <Select name="method" label="Method" form={form} options={all(METHODS)} />
      <Field
        name="path"
        label="Path starts with"
        placeholder="/api/v1/payouts"
        form={form}
        maxLength={200}
      />
      <Field name="id" label="Request ID" placeholder="req_…" form={form} maxLength={40} />
    </FilterForm>
  );
}

interface RequestTableProps {
  rows: readonly LoggedRequest[];
  path: string;
  isFiltered: boolean;
}

function RequestTable({ rows, path, isFiltered: filtered }: RequestTableProps) {
  return (
    <Table
      caption="Requests"
      rows={rows}
      empty={
        filtered ? (
          <NoMatch path={path} what="requests" />
        ) : (
          <Empty icon="scroll-text" title="No requests yet">
            <p>A request appears here a second after your server sent it.</p>
            <pre>{'curl "$API/balance" -H "Authorization: Bearer sk_test_…"'}</pre>
          </Empty>
        )
      }
      columns={[
        { label: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
        {
          label: 'Request',
          cell: (request) => (
            <>
              <a class="break" href={`${path}/${request.id}`}>
                {request.method} {request.path}
              </a>
              {request.replayed ? <small>Replayed</small> : null}
            </>
          ),
        },
        { label: 'Request ID', wide: true, cell: ({ id }) => <code>{id}</code> },
        {
          label: 'Duration',
          right: true,
          wide: true,
          cell: ({ durationMs }) => `${durationMs} ms`,
        },
        { label: 'Time', cell: ({ at }) => <Time at={at} seconds /> },
      ]}
    />
  );
}

function HttpStatus({ status }: { status: number }) {
  const tone = status < 400 ? 'good' : status < 500 ? 'wait' : 'bad';
  return (
    <span class="status" data-tone={tone}>
      {status}
    </span>
  );
}

function RequestPage({ request, base }: { request: RequestDetail; base: string }) {
  const { apiKeyId, query, requestBody, responseBody } = request;
  return (
    <>
      <PageHead
        back={{ href: `${base}/requests`, label: 'Request log' }}
        here={request.id}
        title={
          <>
            {request.method} {request.path} <HttpStatus status={request.status} />
          </>
        }
      />
      {request.replayed ? (
        <Alert tone="note" title="Replayed">
          <p>
            The Idempotency-Key was used before with the same request, so the first response was
            sent again and nothing was created.
          </p>
        </Alert>
      ) : null}
      {request.reused === null ? null : <Reused reused={request.reused} base={base} />}
      <Card title="Details">
        <Facts
          rows={[
            ['Request', <Id value={request.id} />],
            ['Time', <Time at={request.at} seconds />],
            ['Query', query === '' ? null : <code>{query}</code>],
            ['Duration', `${request.durationMs} ms`],
            ['API key', <a href={`${base}/keys/${apiKeyId}`}>{apiKeyId}</a>],
            ['Address', request.address],
            ['User agent', request.userAgent === '' ? null : request.userAgent],
            ['Idempotency key', request.idempotencyKey],
            ['Objects', <Objects request={request} base={base} />],
          ]}
        />
      </Card>
      {requestBody === null ? null : (
        <Card title="Request body" lead="Secrets are removed, and long bodies are shortened.">
          <pre class="code">{indented(requestBody)}</pre>
        </Card>
      )}
      {responseBody === null ? null : (
        <Card
          title="Response body"
          lead="Secrets are removed. Lists are shortened to their first rows, and long bodies are cut."
        >
          <pre class="code">{indented(responseBody)}</pre>
        </Card>
      )}
    </>
  );
}

const ID = /\b[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26}\b/g;
const OBJECTS_MAX = 10;

/** Links to what the path and the bodies name. */
function Objects({ request, base }: { request: RequestDetail; base: string }) {
  const { path, requestBody, responseBody } = request;
  const text = [path, requestBody, responseBody].join(' ');
  const found = [...new Set(text.match(ID))]
    .map((id) => [id, objectPath(id)] as const)
    .filter(([id, page]) => page !== null && id !== request.id);
  if (found.length === 0) return <span class="muted">None</span>;
  return (
    <>
      {found.slice(0, OBJECTS_MAX).map(([id, page]) => (
        <div>
          <a class="break" href={base + (page ?? '')}>
            {id}
          </a>
        </div>
      ))}
    </>
  );
}

function Reused({ reused: { first, differences }, base }: { reused: ReusedKey; base: string }) {
  return (
    <Card title="What differs from the first request with this key" flush>
      <p class="table-note">
        <a href={`${base}/requests/${first.id}`}>
          {first.method} {first.path}
        </a>{' '}
        used the key at <Time at={first.at} seconds />.{' '}
        {differences === null
          ? 'A stored body was shortened, so the bodies cannot be compared.'
          : 'Removed secrets are not compared.'}
      </p>
      {differences === null ? null : (
        <Table
          caption="Differences"
          rows={differences}
          empty={<Empty icon="equal" title="The stored bodies are the same" />}
          columns={[
            { label: 'Field', cell: ({ field }) => <code>{field}</code> },
            { label: 'First request', cell: (one) => <StoredValue value={one.first} /> },
            { label: 'This request', cell: (one) => <StoredValue value={one.second} /> },
          ]}
        />
      )}
    </Card>
  );
}

function StoredValue({ value }: { value: string | null }) {
  return value === null ? <span class="muted">Not set</span> : <code class="break">{value}</code>;
}
