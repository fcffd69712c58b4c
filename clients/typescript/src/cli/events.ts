/** `payments-gateway events`. */
import type { Event, EventListQuery, FeedQuery, GatewayClient, WebhookDelivery } from '../index';
import type { Command, Run } from './command';
import { connect } from './connection';
import { CommandError, EXIT, textOf, UsageError } from './failure';
import { CREATED, LIMIT, pageQuery, take } from './lists';
import { objectOf, sendEvent } from './listen';
import { checkUrl } from './listen-command';
import { note, print, printable, printableJson, printMany, printOne } from './output';

const FILTERS = {
  type: { value: '<types>', help: 'only these, separated by commas' },
  object: { value: '<id>', help: 'only those of this payment, payout or other object' },
} as const;

const GET: Command = {
  name: 'events get',
  argument: '<id>',
  summary: 'Shows an event',
  connects: true,
  options: {},
  examples: ['events get evt_01M7YESA634WQFACSBWYSTKM76'],
  run: async ({ values, argument, signal, asJson }) =>
    printOne(await connect(values).client.events.get(argument, { signal }), asJson),
};

const LIST: Command = {
  name: 'events list',
  summary: 'Lists events, newest first',
  connects: true,
  options: { ...FILTERS, ...CREATED, ...LIMIT },
  examples: ['events list', 'events list --type payout.failed,payout.rejected'],
  run: list,
};

const TAIL: Command = {
  name: 'events tail',
  summary: 'Shows events as they happen, until Ctrl-C',
  connects: true,
  options: {
    ...FILTERS,
    after: {
      value: '<id>',
      help: 'begin after this event, or with "oldest" (default: new events)',
    },
  },
  more: 'With --json, each line is one event. An outage of the gateway is waited for, and no event is missed.',
  examples: ['events tail', 'events tail --type payment.completed --json'],
  run: tail,
};

const RESEND: Command = {
  name: 'events resend',
  argument: '<id>',
  summary: 'Sends an event again, to your endpoints or to a receiver on your machine',
  connects: true,
  options: {
    endpoint: { value: '<id>', help: 'only to this endpoint (default: all that got the event)' },
    'forward-to': { value: '<url>', help: 'a receiver on your machine, in place of endpoints' },
    secret: { value: '<secret>', help: 'the signing secret of that receiver' },
  },
  more: `To endpoints, the gateway makes one attempt for each at once; the key needs the scopes webhooks:read and
webhooks:write. With --forward-to, the command sends the event by itself; the key needs events:read.`,
  examples: [
    'events resend evt_01M7YESA634WQFACSBWYSTKM76',
    'events resend evt_01M7YESA634WQFACSBWYSTKM76 --forward-to http://localhost:4000/webhooks --secret whsec_…',
  ],
  run: resend,
};

export const EVENT_COMMANDS = [LIST, GET, TAIL, RESEND];

/** The gateway refuses a name that is no type. */
function filtersOf(values: Run['values']) {
  return { type: values.text('type') as FeedQuery['type'], object_id: values.text('object') };
}

async function list({ values, signal, asJson }: Run): Promise<void> {
  const query: EventListQuery = { ...filtersOf(values), ...pageQuery(values) };
  const { client } = connect(values);
  const events = await take(client.events.list(query, { signal }), values);
  const columns = {
    ID: 'id',
    TYPE: 'type',
    OBJECT: 'data.id',
    STATUS: 'data.status',
    CREATED: 'created_at',
  };
  printMany(events, columns, asJson);
}

async function tail({ values, signal, asJson }: Run): Promise<void> {
  const onError = (error: unknown): void => note(`${textOf(error)} Retrying.`);
  const after = values.text('after') ?? 'latest';
  const { client } = connect(values);
  const feed = client.events.follow({ ...filtersOf(values), after, signal, onError });
  for await (const event of feed) print(asJson ? printableJson(event) : lineOf(event));
}

/** One event on one line. */
export function lineOf(event: Event): string {
  return printable(`${event.created_at}  ${event.type}  ${objectOf(event)}  ${event.id}`);
}

async function resend(run: Run): Promise<void> {
  const { values, argument, signal } = run;
  const target = values.text('forward-to');
  const forwardTo = target === undefined ? undefined : checkUrl('forward-to', target);
  const { client } = connect(values);
  const event = await client.events.get(argument, { signal });
  if (forwardTo === undefined) await resendToEndpoints(run, client, event);
  else await forward(run, event, forwardTo);
}

async function forward({ values, signal, asJson }: Run, event: Event, forwardTo: string) {
  const secret = values.text('secret');
  if (secret === undefined) throw new UsageError('--forward-to needs --secret <secret>.');
  const { answer, status, ok, ms } = await sendEvent(event, { forwardTo, secret, signal });
  if (!ok) {
    const code = status === null ? EXIT.noAnswer : EXIT.refused;
    throw new CommandError(`The receiver gave ${answer} to ${event.id}.`, code);
  }
  if (asJson) printOne({ event_id: event.id, status, duration_ms: ms }, true);
  else print(`${event.type} ${objectOf(event)} ${event.id} ${answer} ${ms} ms`);
}

async function resendToEndpoints(run: Run, client: GatewayClient, event: Event): Promise<void> {
  const { values, signal, asJson } = run;
  const named = values.text('endpoint');
  const ids = named === undefined ? await endpointIds(client, signal) : [named];
  const resent: WebhookDelivery[] = [];
  for (const id of ids) {
    const delivery = await findDelivery(client, id, event, signal);
    if (delivery !== null) {
      resent.push(await client.webhookDeliveries.resend(delivery.id, { signal }));
    }
  }
  if (resent.length === 0) {
    throw new CommandError(
      `No endpoint got ${event.id}.`,
      EXIT.refused,
      'An endpoint gets the events that happen after its creation. Add --forward-to for another receiver.',
    );
  }
  printMany(resent, { DELIVERY: 'id', ENDPOINT: 'endpoint_id', EVENT: 'event_id' }, asJson);
}

async function endpointIds(client: GatewayClient, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client.webhookEndpoints.list({ limit: 100 }, { signal })) ids.push(id);
  return ids;
}

/** The times of a delivery and of its event can come from two clocks. */
const CLOCKS_DIFFER_MS = 60_000;

/** Deliveries are listed newest first, and one is not older than its event. */
async function findDelivery(
  client: GatewayClient,
  endpoint: string,
  event: Event,
  signal: AbortSignal,
): Promise<WebhookDelivery | null> {
  const oldest = Date.parse(event.created_at) - CLOCKS_DIFFER_MS;
  const deliveries = client.webhookEndpoints.deliveries(endpoint, { limit: 100 }, { signal });
  for await (const delivery of deliveries) {
    if (delivery.event_id === event.id) return delivery;
    if (Date.parse(delivery.created_at) < oldest) return null;
  }
  return null;
}
