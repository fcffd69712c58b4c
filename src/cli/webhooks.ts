/** `admin webhooks`: endpoints. What becomes of their events is in webhook-deliveries.ts. */
import { MODES, type Mode } from '../domain/mode';
import { pingEndpoint } from '../services/admin/webhook-ping';
import {
  createEndpoint,
  deleteEndpoint,
  editEndpoint,
  enableEndpoint,
  listEndpoints,
  resealSecrets,
  rollSecret,
  showEndpoint,
  type EndpointWithSecret,
} from '../services/admin/webhooks';
import { UsageError } from '../lib/command-line';
import { listOf, verb, type AnyVerb, type Noun } from './command';
import { showList, showObject } from './output';
import { ACCOUNT } from './shared-options';
import { WEBHOOK_DELIVERY_VERBS } from './webhook-deliveries';
import { readEndpointId, THE_ENDPOINT } from './webhook-options';

const SETTINGS = {
  url: { value: 'URL', help: 'where events are sent; https in live mode, a public address' },
  events: { value: 'A,B', help: 'some kinds of event, such as payout.completed, or all' },
  description: { value: 'TEXT', help: 'to tell endpoints apart' },
};

/** The secret last, where a person looks for it. */
function showWithSecret({ secret, ...endpoint }: EndpointWithSecret): string {
  return `${showObject(endpoint)}\n${secret}\nThis is the only time that the secret is shown.\n`;
}

function switching(enabled: boolean): AnyVerb {
  return verb({
    summary: enabled
      ? 'Sends events to an endpoint again'
      : 'Sends nothing more to an endpoint; open deliveries end as skipped',
    subject: 'id',
    options: THE_ENDPOINT,
    examples: [`webhooks ${enabled ? 'enable' : 'disable'} we_…`],
    changes: 'reason optional',
    read: readEndpointId,
    run: ({ db, by }, id) => enableEndpoint(db, by, id, enabled),
    show: showObject,
  });
}

export const WEBHOOKS: Noun = {
  summary: 'Webhook endpoints and what is delivered to them.',
  verbs: {
    create: verb({
      summary: 'Makes an endpoint and shows its secret, this once',
      notes: ['At most 16 in each mode. WEBHOOK_SECRET_KEY has to be the gateway’s own.'],
      options: {
        ...ACCOUNT,
        mode: { value: 'test|live', help: 'the mode, for good' },
        ...SETTINGS,
      },
      examples: [
        'webhooks create --mode test --url https://shop.example.com/hooks --json',
        'webhooks create --account acc_… --mode live --url https://shop.example.com/hooks \\\n' +
          '    --events payout.completed,payout.failed --description "Shop backend"',
      ],
      changes: 'reason optional',
      read: (options) => ({
        account: options.text('account'),
        mode: options.requiredOneOf<Mode>('mode', MODES),
        url: options.required(
          'url',
          'where events are sent, such as https://shop.example.com/hooks',
        ),
        events: options.list('events') ?? ['all'],
        description: options.text('description') ?? null,
      }),
      run: async ({ db, by, accountId, webhooks }, { account, ...settings }) =>
        createEndpoint(db, by, webhooks(), { ...settings, accountId: await accountId(account) }),
      show: showWithSecret,
    }),
    list: verb({
      summary: 'Lists the endpoints of an account',
      options: ACCOUNT,
      examples: ['webhooks list', 'webhooks list --account acc_… --json'],
      read: (options) => options.text('account'),
      run: async ({ db, accountId }, asked) =>
        listOf(await listEndpoints(db, await accountId(asked))),
      show: (list) =>
        showList(
          list,
          ['id', 'mode', 'enabled', 'url', 'events', 'description'],
          'No endpoint yet: `webhooks create` makes one.',
        ),
    }),
    show: verb({
      summary: 'Shows an endpoint, also one that was deleted',
      subject: 'id',
      options: THE_ENDPOINT,
      examples: ['webhooks show we_… --json'],
      read: readEndpointId,
      run: ({ db }, id) => showEndpoint(db, id),
      show: showObject,
    }),
    edit: verb({
      summary: 'Changes the address, the kinds of event or the description',
      subject: 'id',
      options: { ...THE_ENDPOINT, ...SETTINGS },
      examples: ['webhooks edit we_… --url https://shop.example.com/new --events all'],
      changes: 'reason optional',
      read: (options) => {
        const wish = {
          ...given('url', options.text('url')),
          ...given('events', options.list('events')),
          ...given('description', options.text('description')),
        };
        if (Object.keys(wish).length > 0) return { id: readEndpointId(options), wish };
        throw new UsageError('Nothing to change: --url, --events or --description.');
      },
      run: ({ db, by, webhooks }, { id, wish }) => editEndpoint(db, by, webhooks(), id, wish),
      show: showObject,
    }),
    roll: verb({
      summary: 'Gives an endpoint a new secret and shows it, this once',
      notes: ['The old secret is dead at once, also for deliveries that are being retried.'],
      subject: 'id',
      options: THE_ENDPOINT,
      examples: ['webhooks roll we_… --reason "left in a log" --json'],
      changes: 'reason optional',
      read: readEndpointId,
      run: ({ db, by, webhooks }, id) => rollSecret(db, by, webhooks(), id),
      show: showWithSecret,
    }),
    enable: switching(true),
    disable: switching(false),
    delete: verb({
      summary: 'Removes an endpoint for good; open deliveries end as skipped',
      subject: 'id',
      options: THE_ENDPOINT,
      examples: ['webhooks delete we_… --reason "the shop has moved"'],
      changes: 'reason optional',
      read: readEndpointId,
      run: ({ db, by }, id) => deleteEndpoint(db, by, id),
      show: showObject,
    }),
    ping: verb({
      summary: 'Sends a test event, once, and shows how it went',
      notes: ['Also to an endpoint that is disabled or not subscribed.'],
      subject: 'id',
      options: THE_ENDPOINT,
      examples: ['webhooks ping we_… --json'],
      changes: 'reason optional',
      read: readEndpointId,
      run: ({ db, by, webhooks }, id) => pingEndpoint(db, by, webhooks(), id),
      show: showObject,
    }),
    ...WEBHOOK_DELIVERY_VERBS,
    reseal: verb({
      summary: 'Encrypts all secrets with the present WEBHOOK_SECRET_KEY',
      notes: ['The key before it has to be in WEBHOOK_SECRET_KEYS_EARLIER. Secrets stay the same.'],
      options: {},
      examples: ['webhooks reseal --reason "yearly change of the key"'],
      changes: 'reason optional',
      read: () => null,
      run: ({ db, by, webhooks }) => resealSecrets(db, by, webhooks()),
      show: showObject,
    }),
  },
};

function given<Name extends string, T>(name: Name, value: T | undefined): Partial<Record<Name, T>> {
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<Name, T>>);
}
