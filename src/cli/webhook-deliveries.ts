/** The verbs of `admin webhooks` that are about deliveries. */
import {
  WEBHOOK_DELIVERY_STATUSES,
  OPEN_DELIVERIES_MAX,
  OPEN_DELIVERIES_RESERVE,
} from '../domain/webhook-delivery';
import {
  abandonWebhookDelivery,
  listAttempts,
  listWebhookDeliveries,
  retryWebhookDelivery,
} from '../services/admin/webhook-deliveries';
import { recoverWebhookDeliveries, replayMissing } from '../services/admin/webhook-recovery';
import { UsageError } from '../lib/command-line';
import { listOf, verb, type AnyVerb } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';
import { LIMITED, readLimit } from './shared-options';
import { readEndpointId, THE_ENDPOINT } from './webhook-options';

const THE_DELIVERY = { id: { value: 'DELIVERY_ID', help: 'the delivery' } };

const SINCE = { since: { value: 'TIME', help: 'from when on, such as 2027-01-01T12:00:00Z' } };

const FILLS = 'Not more than may be open at once: `left` says how many there are still to do.';

const readWebhookDeliveryId = (options: Options): string =>
  options.required('id', '`webhooks deliveries` shows the ids, whd_…');

function readBatch(options: Options): { endpointId: string; since: Date } {
  const since = options.date('since');
  if (since === undefined) {
    throw new UsageError('--since is missing: from when on, such as 2027-01-01T12:00:00Z.');
  }
  return { endpointId: readEndpointId(options), since };
}

/** With what to do about the rest. */
function showRecovery(recovery: { left: number }): string {
  const rest =
    `Not all: an endpoint has at most ${OPEN_DELIVERIES_MAX} deliveries open, and ` +
    `${OPEN_DELIVERIES_RESERVE} places stay free for new events. Run this again when those that ` +
    'are open have been delivered.\n';
  return showObject(recovery) + (recovery.left > 0 ? rest : '');
}

export const WEBHOOK_DELIVERY_VERBS: Readonly<Record<string, AnyVerb>> = {
  deliveries: verb({
    summary: 'Lists what was and is to be delivered to an endpoint, newest first',
    subject: 'id',
    options: {
      ...THE_ENDPOINT,
      status: { value: 'STATUS', help: `only ${WEBHOOK_DELIVERY_STATUSES.join(', ')}` },
      ...LIMITED,
    },
    examples: [
      'webhooks deliveries we_… --status failed',
      'webhooks deliveries we_… --limit 20 --json',
    ],
    read: (options) => ({
      id: readEndpointId(options),
      status: options.oneOf('status', WEBHOOK_DELIVERY_STATUSES),
      limit: readLimit(options),
    }),
    run: async ({ db }, { id, status, limit }) =>
      listOf(await listWebhookDeliveries(db, id, status, limit + 1), limit),
    show: (list) =>
      showList(
        list,
        ['id', 'event_type', 'object_id', 'status', 'attempts', 'next_attempt_at', 'last_error'],
        'No delivery.',
      ),
  }),
  attempts: verb({
    summary: 'Lists the attempts at a delivery with what was answered',
    subject: 'id',
    options: THE_DELIVERY,
    examples: ['webhooks attempts whd_…', 'webhooks attempts whd_… --json'],
    read: readWebhookDeliveryId,
    run: async ({ db }, id) => listOf(await listAttempts(db, id)),
    show: (list) =>
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
        'No attempt yet.',
      ),
  }),
  retry: verb({
    summary: 'Makes one attempt at once, outside the schedule',
    notes: ['A success ends the schedule; a failure leaves it as it was.'],
    subject: 'id',
    options: THE_DELIVERY,
    examples: ['webhooks retry whd_…'],
    changes: 'reason optional',
    read: readWebhookDeliveryId,
    run: ({ db, by, webhooks }, id) =>
      retryWebhookDelivery(db, by, webhooks().webhookDeliveryWorkflows, id),
    show: showObject,
  }),
  abandon: verb({
    summary: 'Ends the schedule of a delivery',
    notes: ['`webhooks retry` can still send it.'],
    subject: 'id',
    options: THE_DELIVERY,
    examples: ['webhooks abandon whd_… --reason "the order was deleted"'],
    changes: 'reason optional',
    read: readWebhookDeliveryId,
    run: ({ db, by, webhooks }, id) =>
      abandonWebhookDelivery(db, by, webhooks().webhookDeliveryWorkflows, id),
    show: showObject,
  }),
  recover: verb({
    summary: 'Tries again what failed, and takes up what was skipped, since a time',
    notes: [
      'One attempt for each that failed; what was skipped has its schedule before it.',
      FILLS,
    ],
    subject: 'id',
    options: { ...THE_ENDPOINT, ...SINCE },
    examples: ['webhooks recover we_… --since 2027-01-01T12:00:00Z'],
    changes: 'reason optional',
    read: readBatch,
    run: ({ db, by, webhooks }, batch) =>
      recoverWebhookDeliveries(db, by, webhooks().webhookDeliveryWorkflows, batch),
    show: showRecovery,
  }),
  replay: verb({
    summary: 'Delivers the events since a time that an endpoint never had',
    notes: ['Such as those from before it was made, or from while it was disabled.', FILLS],
    subject: 'id',
    options: { ...THE_ENDPOINT, ...SINCE },
    examples: ['webhooks replay we_… --since 2027-01-01'],
    changes: 'reason optional',
    read: readBatch,
    run: ({ db, by, webhooks }, batch) =>
      replayMissing(db, by, webhooks().webhookDeliveryWorkflows, batch),
    show: showRecovery,
  }),
};
