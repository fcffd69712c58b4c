/** What activities need to deliver webhooks to receivers on this machine. */
import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { createWebhookDeliveryStarter } from '../../../activities/webhook-delivery/starter';
import type { Db } from '../../../src/db/transaction';
import type { RetryScheduleMs } from '../../../src/domain/webhook-delivery';
import { EndpointSlots } from '../../../src/domain/webhook-delivery-slots';
import { createSecretBox } from '../../../src/platform/lib/secret-box';
import { createWebhookDeliveryWorkflows } from '../../../src/temporal/webhook-delivery-workflows';
import { createWebhookSender, DEFAULT_LIMITS } from '../../../src/adapters/webhooks/sender';

/**
 * @param schedule the real one when it is left out
 * @param deadlineMs how long a receiver may take; the real ten seconds when it is left out
 */
export function createWebhookParts(
  db: Db,
  temporal: Client,
  schedule?: RetryScheduleMs,
  deadlineMs = DEFAULT_LIMITS.deadlineMs,
) {
  const webhookDeliveryWorkflows = createWebhookDeliveryWorkflows(
    temporal,
    schedule === undefined ? {} : { schedule },
  );
  return {
    webhookDeliveryWorkflows,
    webhookDeliveryStarter: createWebhookDeliveryStarter({
      db,
      webhookDeliveryWorkflows,
      logger: pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }),
    }),
    webhookSender: createWebhookSender({
      allowCidrs: ['127.0.0.0/8'],
      denyCidrs: [],
      ownHosts: [],
      limits: { deadlineMs },
    }),
    secretBox: createSecretBox(randomBytes(32).toString('hex'), []),
    endpointSlots: new EndpointSlots(),
  };
}
