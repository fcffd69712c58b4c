/** `admin webhooks`: endpoints. The verbs about their deliveries are in webhook-deliveries.ts. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MODES } from '../../../domain/mode';
import { UsageError } from '../../../platform/lib/command-line';
import { presentEndpointForOperator, presentPing } from '../webhooks-contract';
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  editEndpoint,
  enableEndpoint,
  listEndpoints,
  pingEndpoint,
  requireKnown,
  rollSecret,
  type WebhookEndpoint,
} from '../webhook-endpoints';
import { resealSecrets } from '../secrets';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import type { Run } from '../../../kit/admin/context';
import {
  addNoun,
  ACCOUNT,
  changeVerb,
  readVerb,
  runList,
  runOn,
  type VerbTexts,
} from '../../../kit/admin/options';
import { showWithSecret } from '../../../kit/admin/output';
import { addWebhookDeliveries, ENDPOINT } from './webhook-deliveries';

export function addWebhooks(admin: Command, run: Run): void {
  const webhooks = addNoun(admin, 'webhooks', 'Webhook endpoints and their deliveries.');
  const create = changeVerb(webhooks, 'create', {
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
    );
  addFields(create, createEndpoint, { events: ['all'] });
  create.action((options) =>
    run(
      options,
      async ({ db, by, accountId, webhooks: tools }) => {
        const owner = { accountId: await accountId(options.account), mode: options.mode };
        const input = inputOf(createEndpoint, options);
        return withSecret(await createEndpoint.make(db, by, { ...tools(), ...owner }, input));
      },
      showWithSecret,
    ),
  );
  runList(
    run,
    readVerb(webhooks, 'list', {
      summary: 'List the endpoints of an account',
      examples: ['webhooks list', 'webhooks list --account acc_… --json'],
    }).addOption(ACCOUNT),
    async ({ db, accountId }, { account }) =>
      (await listEndpoints(db, await accountId(account))).map(presentEndpointForOperator),
    ['id', 'mode', 'enabled', 'url', 'events', 'description'],
    'No endpoints. `webhooks create` creates one.',
  );
  runOn(
    run,
    readVerb(webhooks, 'show', {
      summary: 'Show an endpoint, also a deleted one',
      examples: ['webhooks show we_… --json'],
    }),
    ENDPOINT,
    async ({ db }, id) => presentEndpointForOperator(await requireKnown(db, id)),
  );
  addEndpointChanges(webhooks, run);
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

function addEndpointChanges(webhooks: Command, run: Run): void {
  const edit = changeVerb(webhooks, 'edit', {
    summary: 'Change the URL, the event types, the description or the signature headers',
    examples: ['webhooks edit we_… --url https://shop.example.com/new --events all'],
  });
  addFields(edit, editEndpoint);
  runOn(run, edit, ENDPOINT, async ({ db, by, webhooks: tools }, id, options) => {
    const input = inputOf(editEndpoint, options);
    if (Object.keys(input).length === 0) {
      throw new UsageError('Nothing to change. Use --url, --events, --description or --signature.');
    }
    return presentEndpointForOperator(await editEndpoint.make(db, by, { ...tools(), id }, input));
  });
  runOn(
    run,
    changeVerb(webhooks, 'roll', {
      summary: 'Give an endpoint a new secret and show it once',
      notes: 'The old secret stops working at once, also for deliveries that are being retried.',
      examples: ['webhooks roll we_… --reason "left in a log" --json'],
    }),
    ENDPOINT,
    async ({ db, by, webhooks: tools }, id) =>
      withSecret(await rollSecret.make(db, by, { ...tools(), id }, {})),
    showWithSecret,
  );
  const addChange = (name: string, change: typeof enableEndpoint, texts: VerbTexts) =>
    runOn(run, changeVerb(webhooks, name, texts), ENDPOINT, async ({ db, by }, id) =>
      presentEndpointForOperator(await change.make(db, by, { id }, {})),
    );
  addChange('enable', enableEndpoint, {
    summary: 'Send events to an endpoint again',
    examples: ['webhooks enable we_…'],
  });
  addChange('disable', disableEndpoint, {
    summary: 'Stop sending events to an endpoint; open deliveries end as skipped',
    examples: ['webhooks disable we_…'],
  });
  addChange('delete', deleteEndpoint, {
    summary: 'Delete an endpoint permanently; open deliveries end as skipped',
    examples: ['webhooks delete we_… --reason "the shop has moved"'],
  });
  runOn(
    run,
    changeVerb(webhooks, 'ping', {
      summary: 'Send a test event once and show the result',
      notes: 'Also to an endpoint that is disabled or not subscribed.',
      examples: ['webhooks ping we_… --json'],
    }),
    ENDPOINT,
    async ({ db, by, webhooks: tools }, id) =>
      presentPing(await pingEndpoint(db, by, { ...tools(), id })),
  );
}

function withSecret({ secret, ...endpoint }: WebhookEndpoint & { secret: string }) {
  return { ...presentEndpointForOperator(endpoint), secret };
}
