/** `admin webhooks`: endpoints. The verbs about their deliveries are in webhook-deliveries.ts. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MODES } from '../domain/mode';
import { UsageError } from '../lib/command-line';
import { presentEndpoint, presentPing } from '../presenters/admin';
import {
  createEndpoint,
  deleteEndpoint,
  editEndpoint,
  enableEndpoint,
  listEndpoints,
  pingEndpoint,
  requireKnown,
  rollSecret,
  type EndpointWithSecret,
} from '../services/admin/webhooks';
import { resealSecrets } from '../services/admin/secrets';
import type { Context, Run } from './context';
import {
  addNoun,
  ACCOUNT,
  changeVerb,
  list,
  readVerb,
  requireId,
  text,
  type VerbTexts,
} from './options';
import { listOf, showList, showObject, showWithSecret } from './output';
import { addWebhookDeliveries } from './webhook-deliveries';

const ENDPOINT_WHERE = '`webhooks list` lists the ids (we_…).';
const THE_ENDPOINT = new Option('--id <ENDPOINT_ID>', 'the endpoint').argParser(text);

const EVENTS = 'event types, such as payout.completed, or all';
const DESCRIPTION = 'a description, to tell endpoints apart';

export function addWebhooks(admin: Command, run: Run): void {
  const webhooks = addNoun(admin, 'webhooks', 'Webhook endpoints and their deliveries.');
  changeVerb(webhooks, 'create', {
    summary: 'Create an endpoint and show its secret once',
    notes: "At most 16 in each mode. WEBHOOK_SECRET_KEY must be the gateway's own.",
    examples: [
      'webhooks create --mode test --url https://shop.example.com/hooks --json',
      'webhooks create --account acc_… --mode live --url https://shop.example.com/hooks \\\n' +
        '    --events payout.completed,payout.failed --description "Shop backend"',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(
      new Option('--mode <MODE>', 'the mode; it cannot be changed')
        .choices(MODES)
        .makeOptionMandatory(),
    )
    .requiredOption('--url <URL>', 'a public URL that receives events; https in live mode', text)
    .option('--events <A,B>', `${EVENTS} (default: all)`, list)
    .option('--description <TEXT>', DESCRIPTION, text)
    .action((options) =>
      run(
        options,
        async (context) => {
          const { mode, url, events = ['all'], description = null } = options;
          const accountId = await context.accountId(options.account);
          const endpoint = { accountId, mode, url, events, description };
          const { db, by } = context;
          return presentWithSecret(await createEndpoint(db, by, context.webhooks(), endpoint));
        },
        showWithSecret,
      ),
    );
  readVerb(webhooks, 'list', {
    summary: 'List the endpoints of an account',
    examples: ['webhooks list', 'webhooks list --account acc_… --json'],
  })
    .addOption(ACCOUNT)
    .action((options) =>
      run(
        options,
        async ({ db, accountId }) =>
          listOf((await listEndpoints(db, await accountId(options.account))).map(presentEndpoint)),
        (list) =>
          showList(
            list,
            ['id', 'mode', 'enabled', 'url', 'events', 'description'],
            'No endpoints. `webhooks create` creates one.',
          ),
      ),
    );
  readVerb(webhooks, 'show', {
    summary: 'Show an endpoint, also a deleted one',
    examples: ['webhooks show we_… --json'],
  })
    .argument('[id]', 'the endpoint', text)
    .addOption(THE_ENDPOINT)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, ENDPOINT_WHERE);
      return run(options, async ({ db }) => presentEndpoint(await requireKnown(db, id)));
    });
  changeVerb(webhooks, 'edit', {
    summary: 'Change the URL, the event types or the description',
    examples: ['webhooks edit we_… --url https://shop.example.com/new --events all'],
  })
    .argument('[id]', 'the endpoint', text)
    .addOption(THE_ENDPOINT)
    .option('--url <URL>', 'a public URL that receives events; https in live mode', text)
    .option('--events <A,B>', EVENTS, list)
    .option('--description <TEXT>', DESCRIPTION, text)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, ENDPOINT_WHERE);
      const { url, events, description } = options;
      const wish = {
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events }),
        ...(description === undefined ? {} : { description }),
      };
      if (Object.keys(wish).length === 0) {
        throw new UsageError('Nothing to change. Use --url, --events or --description.');
      }
      return run(options, async (context) =>
        presentEndpoint(await editEndpoint(context.db, context.by, context.webhooks(), id, wish)),
      );
    });
  const addChange = <Document extends object>(
    name: string,
    texts: VerbTexts,
    change: (context: Context, id: string) => Promise<Document>,
    show: (document: Document) => string = showObject,
  ) =>
    changeVerb(webhooks, name, texts)
      .argument('[id]', 'the endpoint', text)
      .addOption(THE_ENDPOINT)
      .action((argument, options) => {
        const id = requireId(argument, { id: options.id }, ENDPOINT_WHERE);
        return run(options, (context) => change(context, id), show);
      });
  addChange(
    'roll',
    {
      summary: 'Give an endpoint a new secret and show it once',
      notes: 'The old secret stops working at once, also for deliveries that are being retried.',
      examples: ['webhooks roll we_… --reason "left in a log" --json'],
    },
    async (context, id) =>
      presentWithSecret(await rollSecret(context.db, context.by, context.webhooks(), id)),
    showWithSecret,
  );
  addChange(
    'enable',
    {
      summary: 'Send events to an endpoint again',
      examples: ['webhooks enable we_…'],
    },
    async ({ db, by }, id) => presentEndpoint(await enableEndpoint(db, by, id, true)),
  );
  addChange(
    'disable',
    {
      summary: 'Stop sending events to an endpoint; open deliveries end as skipped',
      examples: ['webhooks disable we_…'],
    },
    async ({ db, by }, id) => presentEndpoint(await enableEndpoint(db, by, id, false)),
  );
  addChange(
    'delete',
    {
      summary: 'Delete an endpoint permanently; open deliveries end as skipped',
      examples: ['webhooks delete we_… --reason "the shop has moved"'],
    },
    async ({ db, by }, id) => presentEndpoint(await deleteEndpoint(db, by, id)),
  );
  addChange(
    'ping',
    {
      summary: 'Send a test event once and show the result',
      notes: 'Also to an endpoint that is disabled or not subscribed.',
      examples: ['webhooks ping we_… --json'],
    },
    async (context, id) =>
      presentPing(await pingEndpoint(context.db, context.by, context.webhooks(), id)),
  );
  addWebhookDeliveries(webhooks, run);
  changeVerb(webhooks, 'reseal', {
    summary: 'Encrypt all secrets with the current WEBHOOK_SECRET_KEY',
    notes:
      'The previous key must be in WEBHOOK_SECRET_KEYS_EARLIER. Secrets stay the same. An interrupted run\n' +
      'continues with the rest; `secrets list` shows what depends on which key.',
    examples: ['webhooks reseal --reason "yearly change of the key"'],
  }).action((options) =>
    run(options, async ({ db, by, webhooks: tools, note }) => {
      const { keyId, resealed } = await resealSecrets(db, by, tools().secretBox, (count) =>
        note(`${count} secrets encrypted`),
      );
      return { object: 'webhook_secrets', key_id: keyId, resealed };
    }),
  );
}

function presentWithSecret({ secret, ...endpoint }: EndpointWithSecret) {
  return { ...presentEndpoint(endpoint), secret };
}
