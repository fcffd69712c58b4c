/**
 * The webhook settings of the environment. Read by src/config.ts for the programs, and by the admin
 * command, which checks endpoints by the same rules.
 */
export interface WebhookSettings {
  /** Encrypts the secrets of endpoints. */
  secretKey: string;
  /** Previous keys, for decryption only. */
  earlierSecretKeys: string[];
  /** Allowed for endpoints of both modes. */
  allowCidrs: string[];
  denyCidrs: string[];
  /**
   * Additionally allowed for endpoints of test mode (decisions/webhook-targets and decisions/development).
   */
  testMode: { allowedHosts: string[]; allowCidrs: string[] };
}

const LOOPBACK = { allowedHosts: ['localhost', '127.0.0.1'], allowCidrs: ['127.0.0.0/8'] };

type Environment = Readonly<Record<string, string | undefined>>;

export function readWebhookSettings(env: Environment): WebhookSettings {
  const testCidrs = listOf(env['WEBHOOK_ALLOW_CIDRS']);
  const isDevelopment = env['GATEWAY_ENV'] === 'development';
  return {
    secretKey: env['WEBHOOK_SECRET_KEY']?.trim() ?? '',
    earlierSecretKeys: listOf(env['WEBHOOK_SECRET_KEYS_EARLIER']),
    allowCidrs: listOf(env['WEBHOOK_LIVE_ALLOW_CIDRS']),
    denyCidrs: listOf(env['WEBHOOK_DENY_CIDRS']),
    testMode:
      isDevelopment && testCidrs.length === 0
        ? LOOPBACK
        : { allowedHosts: [], allowCidrs: testCidrs },
  };
}

/** Separated by commas. */
export function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
