/** The verbs of `admin webhooks` that are about deliveries. */
import { type Command, Option } from '@commander-js/extra-typings';
import {
  OPEN_DELIVERIES_MAX,
  OPEN_DELIVERIES_RESERVE,
  WEBHOOK_DELIVERY_STATUSES,
} from '../../../domain/webhook-delivery';
import { presentAttemptForOperator, presentDelivery } from '../webhooks-contract';
import {
  abandonDelivery,
  listAttempts,
  listWebhookDeliveries,
  retryDelivery,
} from '../webhook-deliveries';
import { recoverWebhookDeliveries, replayMissing } from '../webhook-recovery';
import type { Run } from '../../../kit/admin/context';
import {
  changeVerb,
  LIMIT_OPTION,
  readVerb,
  runOn,
  time,
  type VerbTexts,
} from '../../../kit/admin/options';
import { listOf, showList, showObject } from '../../../kit/admin/output';

const DELIVERY = {
  name: 'delivery',
  value: 'DELIVERY_ID',
  where: '`webhooks deliveries` lists the ids (whd_…).',
};
export const ENDPOINT = {
  name: 'endpoint',
  value: 'ENDPOINT_ID',
  where: '`webhooks list` lists the ids (we_…).',
};
const DELIVERY_COLUMNS = [
  'id',
  'event_type',
  'object_id',
  'status',
  'attempt_count',
  'next_attempt_at',
  'last_error',
] as const;
const ATTEMPT_COLUMNS = [
  'number',
  'manual',
  'started_at',
  'outcome',
  'response_status',
  'error_code',
  'duration_ms',
  'error',
] as const;
const SINCE = new Option('--since <TIME>', 'the start, such as 2027-01-01T12:00:00Z')
  .argParser(time)
  .makeOptionMandatory();

const BOUND = 'Up to the maximum of open deliveries: `left` is the number that remains.';

export function addWebhookDeliveries(webhooks: Command, run: Run): void {
  const deliveries = readVerb(webhooks, 'deliveries', {
    summary: 'List the deliveries of an endpoint, newest first',
    examples: [
      'webhooks deliveries we_… --status failed',
      'webhooks deliveries we_… --limit 20 --json',
    ],
  })
    .addOption(
      new Option('--status <STATUS>', 'only with this status').choices(WEBHOOK_DELIVERY_STATUSES),
    )
    .addOption(LIMIT_OPTION);
  runOn(
    run,
    deliveries,
    ENDPOINT,
    async ({ db }, id, { status, limit }) => {
      const found = await listWebhookDeliveries(db, id, status, limit + 1);
      return listOf(found.map(presentDelivery), limit);
    },
    (list) => showList(list, DELIVERY_COLUMNS, 'No deliveries.'),
  );
  runOn(
    run,
    readVerb(webhooks, 'attempts', {
      summary: 'List the attempts of a delivery with the responses',
      examples: ['webhooks attempts whd_…', 'webhooks attempts whd_… --json'],
    }),
    DELIVERY,
    async ({ db }, id) => listOf((await listAttempts(db, id)).map(presentAttemptForOperator)),
    (list) => showList(list, ATTEMPT_COLUMNS, 'No attempts yet.'),
  );
  const addChange = (name: string, change: typeof retryDelivery, texts: VerbTexts) =>
    runOn(run, changeVerb(webhooks, name, texts), DELIVERY, async (context, id) => {
      const { webhookDeliveryWorkflows } = context.webhooks();
      const { db, by } = context;
      return presentDelivery(await change.make(db, by, { id, webhookDeliveryWorkflows }, {}));
    });
  addChange('retry', retryDelivery, {
    summary: 'Make one attempt at once, outside the schedule',
    notes: 'A success ends the schedule; a failure does not change it.',
    examples: ['webhooks retry whd_…'],
  });
  addChange('abandon', abandonDelivery, {
    summary: 'End the schedule of a delivery',
    notes: '`webhooks retry` can still send it.',
    examples: ['webhooks abandon whd_… --reason "the order was deleted"'],
  });
  const addRecovery = <Counts extends { endpointId: string; since: Date; left: number }>(
    name: string,
    recover: (...args: Parameters<typeof replayMissing>) => Promise<Counts>,
    texts: VerbTexts,
  ) =>
    runOn(
      run,
      changeVerb(webhooks, name, texts).addOption(SINCE),
      ENDPOINT,
      async ({ db, by, webhooks: tools }, endpointId, { since }) =>
        present(await recover(db, by, tools().webhookDeliveryWorkflows, { endpointId, since })),
      show,
    );
  addRecovery('recover', recoverWebhookDeliveries, {
    summary: 'Retry the failed deliveries since a time, and resume the skipped ones',
    notes: `One attempt for each failed delivery; a skipped one continues its schedule. ${BOUND}`,
    examples: ['webhooks recover we_… --since 2027-01-01T12:00:00Z'],
  });
  addRecovery('replay', replayMissing, {
    summary: 'Deliver the events since a time that an endpoint never received',
    notes: `Such as those from before it was created or while it was disabled. ${BOUND}`,
    examples: ['webhooks replay we_… --since 2027-01-01'],
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
