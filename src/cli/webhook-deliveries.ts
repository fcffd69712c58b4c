/** The verbs of `admin webhooks` that are about deliveries. */
import { type Command, Option } from '@commander-js/extra-typings';
import {
  OPEN_DELIVERIES_MAX,
  OPEN_DELIVERIES_RESERVE,
  WEBHOOK_DELIVERY_STATUSES,
} from '../domain/webhook-delivery';
import { presentAttempt, presentWebhookDelivery } from '../presenters/admin';
import {
  abandonWebhookDelivery,
  listAttempts,
  listWebhookDeliveries,
  retryWebhookDelivery,
} from '../services/admin/webhook-deliveries';
import { recoverWebhookDeliveries, replayMissing } from '../services/admin/webhook-recovery';
import type { Run } from './context';
import { changeVerb, LIMIT_OPTION, readVerb, requireId, text, time } from './options';
import { listOf, showList, showObject } from './output';

const WHERE = '`webhooks deliveries` lists the ids (whd_…).';
const ENDPOINT_WHERE = '`webhooks list` lists the ids (we_…).';
const THE_DELIVERY = new Option('--id <DELIVERY_ID>', 'the delivery').argParser(text);
const THE_ENDPOINT = new Option('--id <ENDPOINT_ID>', 'the endpoint').argParser(text);
const SINCE = new Option('--since <TIME>', 'the start, such as 2027-01-01T12:00:00Z')
  .argParser(time)
  .makeOptionMandatory();

const BOUND = 'Up to the maximum of open deliveries: `left` is the number that remains.';

export function addWebhookDeliveries(webhooks: Command, run: Run): void {
  readVerb(webhooks, 'deliveries', {
    summary: 'List the deliveries of an endpoint, newest first',
    examples: [
      'webhooks deliveries we_… --status failed',
      'webhooks deliveries we_… --limit 20 --json',
    ],
  })
    .argument('[id]', 'the endpoint', text)
    .addOption(THE_ENDPOINT)
    .addOption(
      new Option('--status <STATUS>', 'only with this status').choices(WEBHOOK_DELIVERY_STATUSES),
    )
    .addOption(LIMIT_OPTION)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, ENDPOINT_WHERE);
      const { status, limit } = options;
      return run(
        options,
        async ({ db }) => {
          const found = await listWebhookDeliveries(db, id, status, limit + 1);
          return listOf(found.map(presentWebhookDelivery), limit);
        },
        (list) =>
          showList(
            list,
            [
              'id',
              'event_type',
              'object_id',
              'status',
              'attempts',
              'next_attempt_at',
              'last_error',
            ],
            'No deliveries.',
          ),
      );
    });
  readVerb(webhooks, 'attempts', {
    summary: 'List the attempts of a delivery with the responses',
    examples: ['webhooks attempts whd_…', 'webhooks attempts whd_… --json'],
  })
    .argument('[id]', 'the delivery', text)
    .addOption(THE_DELIVERY)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(
        options,
        async ({ db }) => listOf((await listAttempts(db, id)).map(presentAttempt)),
        (list) =>
          showList(
            list,
            [
              'number',
              'manual',
              'started_at',
              'outcome',
              'status',
              'error_code',
              'duration_ms',
              'error',
            ],
            'No attempts yet.',
          ),
      );
    });
  changeVerb(webhooks, 'retry', {
    summary: 'Make one attempt at once, outside the schedule',
    notes: 'A success ends the schedule; a failure does not change it.',
    examples: ['webhooks retry whd_…'],
  })
    .argument('[id]', 'the delivery', text)
    .addOption(THE_DELIVERY)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(options, async (context) => {
        const { webhookDeliveryWorkflows } = context.webhooks();
        const { db, by } = context;
        return presentWebhookDelivery(
          await retryWebhookDelivery(db, by, webhookDeliveryWorkflows, id),
        );
      });
    });
  changeVerb(webhooks, 'abandon', {
    summary: 'End the schedule of a delivery',
    notes: '`webhooks retry` can still send it.',
    examples: ['webhooks abandon whd_… --reason "the order was deleted"'],
  })
    .argument('[id]', 'the delivery', text)
    .addOption(THE_DELIVERY)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(options, async (context) => {
        const { webhookDeliveryWorkflows } = context.webhooks();
        const { db, by } = context;
        return presentWebhookDelivery(
          await abandonWebhookDelivery(db, by, webhookDeliveryWorkflows, id),
        );
      });
    });
  changeVerb(webhooks, 'recover', {
    summary: 'Retry the failed deliveries since a time, and resume the skipped ones',
    notes: `One attempt for each failed delivery; a skipped one continues its schedule. ${BOUND}`,
    examples: ['webhooks recover we_… --since 2027-01-01T12:00:00Z'],
  })
    .argument('[id]', 'the endpoint', text)
    .addOption(THE_ENDPOINT)
    .addOption(SINCE)
    .action((argument, options) => {
      const endpointId = requireId(argument, { id: options.id }, ENDPOINT_WHERE);
      const range = { endpointId, since: options.since };
      return run(
        options,
        async ({ db, by, webhooks }) =>
          present(
            await recoverWebhookDeliveries(db, by, webhooks().webhookDeliveryWorkflows, range),
          ),
        show,
      );
    });
  changeVerb(webhooks, 'replay', {
    summary: 'Deliver the events since a time that an endpoint never received',
    notes: `Such as those from before it was created or while it was disabled. ${BOUND}`,
    examples: ['webhooks replay we_… --since 2027-01-01'],
  })
    .argument('[id]', 'the endpoint', text)
    .addOption(THE_ENDPOINT)
    .addOption(SINCE)
    .action((argument, options) => {
      const endpointId = requireId(argument, { id: options.id }, ENDPOINT_WHERE);
      const range = { endpointId, since: options.since };
      return run(
        options,
        async ({ db, by, webhooks }) =>
          present(await replayMissing(db, by, webhooks().webhookDeliveryWorkflows, range)),
        show,
      );
    });
}

/** The counts are part of the document under their own names. */
function present<Counts extends { endpointId: string; since: Date; left: number }>({
  endpointId,
  since,
  ...counts
}: Counts) {
  return {
    object: 'webhook_recovery',
    endpoint_id: endpointId,
    since: since.toISOString(),
    ...counts,
  };
}

/** With instructions for the deliveries that remain. */
function show(recovery: { left: number }): string {
  if (recovery.left === 0) return showObject(recovery);
  return (
    showObject(recovery) +
    `Not all: an endpoint has at most ${OPEN_DELIVERIES_MAX} open deliveries, of which ` +
    `${OPEN_DELIVERIES_RESERVE} are reserved for new events. Run this again when the open ` +
    'deliveries are done.\n'
  );
}
