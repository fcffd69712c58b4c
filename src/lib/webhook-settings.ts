/**
 * The webhook settings of the environment. Read by src/config.ts for the programs, and by the admin
 * command, which checks endpoints by the same rules.
 */
export interface WebhookSettings {
  /** Encrypts the secrets of endpoints. */
  secretKey: string;
  /** Previous keys, for decryption only. */
  earlierSecretKeys: string[];
  allowCidrs: string[];
  denyCidrs: string[];
  /** Additionally allowed for endpoints of test mode in development (decision H10). */
  testMode: { allowedHosts: string[]; allowCidrs: string[] };
}

const LOOPBACK = { allowedHosts: ['localhost', '127.0.0.1'], allowCidrs: ['127.0.0.0/8'] };
const NOTHING = { allowedHosts: [], allowCidrs: [] };

type Environment = Readonly<Record<string, string | undefined>>;

export function readWebhookSettings(env: Environment): WebhookSettings {
  const allowCidrs = listOf(env['WEBHOOK_ALLOW_CIDRS']);
  const isDevelopment = env['GATEWAY_ENV'] === 'development';
  return {
    secretKey: env['WEBHOOK_SECRET_KEY']?.trim() ?? '',
    earlierSecretKeys: listOf(env['WEBHOOK_SECRET_KEYS_EARLIER']),
    allowCidrs,
    denyCidrs: listOf(env['WEBHOOK_DENY_CIDRS']),
    testMode: isDevelopment && allowCidrs.length === 0 ? LOOPBACK : NOTHING,
  };
}

/** Separated by commas. */
export function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
