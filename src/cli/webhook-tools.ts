/**
 * What the admin command needs to try endpoints and to open their secrets: the settings of the
 * gateway that uses the database, and its Temporal, where that is known.
 */
import type { Client } from '@temporalio/client';
import { createWebhookDeliveryWorkflows } from '../temporal/webhook-delivery-workflows';
import { createSecretBox } from '../lib/secret-box';
import { SetupError } from '../lib/setup-error';
import { readWebhookSettings } from '../lib/webhook-settings';
import type { WebhookTools } from '../services/admin/webhooks';
import { createWebhookSender } from '../webhooks/sender';
import { connectTemporal, developmentSecrets } from './installation';

/** As src/config.ts asks it of the gateway itself. */
const KEY_LENGTH_MIN = 32;

export interface OpenedWebhookTools extends WebhookTools {
  close(): Promise<void>;
}

/** @throws SetupError when the key of the secrets is not known */
export function openWebhookTools(env: NodeJS.ProcessEnv): OpenedWebhookTools {
  const kept = developmentSecrets(env);
  const keptKey = kept?.['WEBHOOK_SECRET_KEY'];
  const settings = readWebhookSettings({
    ...(typeof keptKey === 'string' ? { WEBHOOK_SECRET_KEY: keptKey } : {}),
    ...env,
    ...(kept === null ? {} : { GATEWAY_ENV: 'development' }),
  });
  if (settings.secretKey.length < KEY_LENGTH_MIN) {
    throw new SetupError(
      'WEBHOOK_SECRET_KEY is not set: the secrets of endpoints are sealed with it, so set the one ' +
        'that the gateway runs with.',
    );
  }
  const webhookSender = createWebhookSender({ ...settings, ownHosts: ownHosts(env) });
  const temporal = findTemporal(env);
  return {
    webhookSender,
    secretBox: createSecretBox(settings.secretKey, settings.earlierSecretKeys),
    webhookDeliveryWorkflows: temporal === null ? null : createWebhookDeliveryWorkflows(temporal),
    close: async () => {
      await Promise.allSettled([webhookSender.close(), temporal?.connection.close()]);
    },
  };
}

function ownHosts(env: NodeJS.ProcessEnv): string[] {
  const url = URL.parse(env['PUBLIC_URL'] ?? '');
  return url === null ? [] : [url.hostname];
}

/** Without it nothing is lost: the rows say what is due, and the gateway looks at them by itself. */
function findTemporal(env: NodeJS.ProcessEnv): Client | null {
  try {
    return connectTemporal(env);
  } catch (error) {
    if (error instanceof SetupError) return null;
    throw error;
  }
}
