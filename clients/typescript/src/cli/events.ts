/** `payments-gateway events`. */
import type { Event, EventListQuery, FeedQuery } from '../index';
import type { Command, Run } from './command';
import { connect } from './connection';
import { CommandError, EXIT, textOf } from './failure';
import { CREATED, LIMIT, pageQuery, take } from './lists';
import { objectOf, sendEvent } from './listen';
import { checkUrl } from './listen-command';
import { note, print, printable, printMany, printOne } from './output';

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
  summary: 'Sends an event again, to a webhook receiver on your machine',
  connects: true,
  options: {
    'forward-to': { value: '<url>', help: 'the receiver', required: true },
    secret: { value: '<secret>', help: 'the signing secret of the receiver', required: true },
  },
  examples: [
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
  for await (const event of feed) print(asJson ? JSON.stringify(event) : lineOf(event));
}

/** One event on one line. */
export function lineOf(event: Event): string {
  return printable(`${event.created_at}  ${event.type}  ${objectOf(event)}  ${event.id}`);
}

async function resend({ values, argument, signal, asJson }: Run): Promise<void> {
  const forwardTo = checkUrl('forward-to', values.text('forward-to') ?? '');
  const event = await connect(values).client.events.get(argument, { signal });
  const receiver = { forwardTo, secret: values.text('secret') ?? '', signal };
  const { answer, status, ok, ms } = await sendEvent(event, receiver);
  if (!ok) {
    const code = status === null ? EXIT.noAnswer : EXIT.refused;
    throw new CommandError(`The receiver gave ${answer} to ${event.id}.`, code);
  }
  if (asJson) printOne({ event: event.id, status, duration_ms: ms }, true);
  else print(`${event.type} ${objectOf(event)} ${event.id} ${answer} ${ms} ms`);
}
