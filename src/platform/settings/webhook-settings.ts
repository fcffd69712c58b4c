/**
 * How webhooks are sent and their secrets are kept. Read by src/shell/config.ts for the programs, and by the
 * admin command, which checks endpoints by the same rules.
 */
import type { Settings } from './read-settings';

export interface WebhookSettings {
  /** Encrypts the secrets of endpoints. */
  secretKey: string;
  /** Previous keys, for decryption only. */
  earlierSecretKeys: string[];
  /** Allowed for endpoints of both modes. */
  allowCidrs: string[];
  denyCidrs: string[];
  /**
   * Additionally allowed for endpoints of test mode (decisions/webhooks#webhook-targets and decisions/tools#development).
   */
  testMode: { allowedHosts: string[]; allowCidrs: string[] };
}

export const WEBHOOK_SETTINGS = [
  'GATEWAY_ENV',
  'WEBHOOK_SECRET_KEY',
  'WEBHOOK_SECRET_KEYS_EARLIER',
  'WEBHOOK_ALLOW_CIDRS',
  'WEBHOOK_LIVE_ALLOW_CIDRS',
  'WEBHOOK_DENY_CIDRS',
] as const;

const LOOPBACK = { allowedHosts: ['localhost', '127.0.0.1'], allowCidrs: ['127.0.0.0/8'] };

export function webhookSettings(
  settings: Pick<Settings, (typeof WEBHOOK_SETTINGS)[number]>,
): WebhookSettings {
  const testCidrs = settings.WEBHOOK_ALLOW_CIDRS ?? [];
  const isDevelopment = settings.GATEWAY_ENV === 'development';
  return {
    secretKey: settings.WEBHOOK_SECRET_KEY,
    earlierSecretKeys: settings.WEBHOOK_SECRET_KEYS_EARLIER ?? [],
    allowCidrs: settings.WEBHOOK_LIVE_ALLOW_CIDRS ?? [],
    denyCidrs: settings.WEBHOOK_DENY_CIDRS ?? [],
    testMode:
      isDevelopment && testCidrs.length === 0
        ? LOOPBACK
        : { allowedHosts: [], allowCidrs: testCidrs },
  };
}
