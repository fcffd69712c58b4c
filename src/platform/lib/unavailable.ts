/**
 * Failures that end by themselves: PostgreSQL cannot be reached, restarts, or is too busy. A request
 * that meets one is answered with 503, and can be repeated. Its outcome may be unknown.
 */

/**
 * Codes of the operating system and of PostgreSQL: connections, shutdown, failover, limits and
 * timeouts.
 */
const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The server is shut down, started, or cut off, or a statement or a lock timed out.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '57014',
  '55P03',
  '25P03',
  // No connections, memory or disk space are left.
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  // The server became a standby.
  '25006',
]);

/** Messages of the driver and of knex, which give them no code. */
const MESSAGES = [
  /Query read timeout/,
  /timeout expired$/,
  /^timeout exceeded when trying to connect$/,
  /Connection terminated/,
  /Client has encountered a connection error/,
  /^Knex: Timeout acquiring a connection/,
  /is not currently accepting connections$/,
];

/** Whether PostgreSQL is away for a while, so that the same work can succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && (CODES.has(code) || code.startsWith('08'))) return true;
  return MESSAGES.some((pattern) => pattern.test(error.message));
}

/**
 * Whether the driver gave up because nothing came back in time. The connection may be dead although
 * nobody closed it.
 */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('Query read timeout');
}
