/** `payments-gateway logs`: the requests of the account's keys. */
import type { ListRequestLogsQuery, RequestLog } from '../index';
import { isRetryable, pause } from '../request';
import type { Command, Run } from './command';
import { connect } from './connection';
import { textOf } from './failure';
import { CREATED, LIMIT, pageQuery, take } from './lists';
import { note, print, printable, printableJson, printMany, printOne } from './output';

const FILTERS = {
  status: { value: '<status>', help: 'only with this status, such as 422 or 4xx' },
  method: { value: '<method>', help: 'only with this method, such as POST' },
  path: { value: '<path>', help: 'only with this beginning of the path, such as /api/v1/payouts' },
} as const;

const NEEDS = 'The API key needs the scope request_logs:read.';

const LIST: Command = {
  name: 'logs list',
  summary: 'Lists the requests of your API keys in the last 7 days, newest first',
  connects: true,
  options: { ...FILTERS, ...CREATED, ...LIMIT },
  more: NEEDS,
  examples: ['logs list', 'logs list --status 4xx --path /api/v1/payouts'],
  run: list,
};

const GET: Command = {
  name: 'logs get',
  argument: '<id>',
  summary: 'Shows a request with its body, by the request ID of an error',
  connects: true,
  options: {},
  more: NEEDS,
  examples: ['logs get req_01M7YESA634WQFACSBWYSTKM76'],
  run: async ({ values, argument, signal, asJson }) =>
    printOne(await connect(values).client.requestLogs.get(argument, { signal }), asJson),
};

const TAIL: Command = {
  name: 'logs tail',
  summary: 'Shows requests as they come, until Ctrl-C',
  connects: true,
  options: FILTERS,
  more: `With --json, each line is one request. An outage of the gateway is waited for. ${NEEDS}`,
  examples: ['logs tail', 'logs tail --status 4xx --json'],
  run: tail,
};

export const LOG_COMMANDS = [LIST, GET, TAIL];

/** The gateway refuses a method that it does not have. */
function filtersOf(values: Run['values']) {
  return {
    status: values.text('status'),
    method: values.text('method') as ListRequestLogsQuery['method'],
    path: values.text('path'),
  };
}

async function list({ values, signal, asJson }: Run): Promise<void> {
  const query = { ...filtersOf(values), ...pageQuery(values) };
  const { client } = connect(values);
  const requests = await take(client.requestLogs.list(query, { signal }), values);
  const columns = {
    ID: 'id',
    STATUS: 'status',
    METHOD: 'method',
    PATH: 'path',
    MS: 'duration_ms',
    CREATED: 'created_at',
  };
  printMany(requests, columns, asJson);
}

const ASK_EVERY_MS = 1_000;
/** Several API processes write the log in batches, so an entry can come after one of a later request. */
const LATE_MS = 30_000;

async function tail({ values, signal, asJson }: Run): Promise<void> {
  const { client } = connect(values);
  const filters = filtersOf(values);
  const [newest] = (await client.requestLogs.list({ limit: 1 }, { signal }).page()).data;
  const seen = new Map<string, number>();
  let from = newest === undefined ? 0 : Date.parse(newest.created_at);
  // What is older than the newest request of the start is not shown, however late it is written.
  const start = from;
  if (newest !== undefined) seen.set(newest.id, from);
  for (;;) {
    try {
      const since = Math.max(start, from - LATE_MS);
      const query = { ...filters, created_from: new Date(since).toISOString(), limit: 100 };
      const fresh: RequestLog[] = [];
      for await (const request of client.requestLogs.list(query, { signal, maxRetries: 0 })) {
        if (!seen.has(request.id)) fresh.push(request);
      }
      for (const request of fresh.reverse()) {
        const at = Date.parse(request.created_at);
        seen.set(request.id, at);
        from = Math.max(from, at);
        print(asJson ? printableJson(request) : lineOf(request));
      }
      for (const [id, at] of seen) if (at < from - 2 * LATE_MS) seen.delete(id);
    } catch (error) {
      if (signal.aborted) return;
      if (!isRetryable(error)) throw error;
      note(`${textOf(error)} Retrying.`);
    }
    await pause(ASK_EVERY_MS, signal).catch(() => undefined);
    if (isEnded(signal)) return;
  }
}

/** A function, because the compiler does not know that a signal changes while something is awaited. */
function isEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

function lineOf(request: RequestLog): string {
  const { created_at: at, status, method, path, duration_ms: ms, id } = request;
  return printable(`${at}  ${status}  ${method} ${path}  ${ms} ms  ${id}`);
}
