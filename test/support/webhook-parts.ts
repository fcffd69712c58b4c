/** What activities need to deliver webhooks to receivers on this machine. */
import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { createDeliveryStarter } from '../../activities/delivery/starter';
import type { Db } from '../../src/db/transaction';
import type { RetryScheduleMs } from '../../src/domain/delivery-schedule';
import { EndpointSlots } from '../../src/domain/delivery-slots';
import { createSecretBox } from '../../src/lib/secret-box';
import { createDeliveryWorkflows } from '../../src/temporal/delivery-workflows';
import { createWebhookSender, DEFAULT_LIMITS } from '../../src/webhooks/sender';

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
  const deliveryWorkflows = createDeliveryWorkflows(temporal, schedule);
  return {
    deliveryWorkflows,
    deliveryStarter: createDeliveryStarter({
      db,
      deliveryWorkflows,
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
