/**
 * Reads certificates and API keys again, each minute and on SIGHUP: short-lived certificates are renewed
 * without a restart. What cannot be used is logged, and the earlier ones stay.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { readCredentials, type TemporalCredentials, type TemporalOptions } from './connection';

const READ_EVERY_MS = 60_000;

export interface Reload {
  stop(): void;
}

/** @param apply puts the new credentials to use; a failure is tried again at the next reading */
export function reloadCredentials(
  options: TemporalOptions,
  logger: Pick<Logger, 'info' | 'warn'>,
  apply: (credentials: TemporalCredentials) => Promise<void>,
): Reload {
  const { files = [] } = options;
  if (files.length === 0) {
    return onHangUp(() => {
      logger.info('SIGHUP: no credentials for Temporal are in files, so there is nothing to read');
    });
  }
  let used = fingerprint(readCredentials(options));
  let last: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    try {
      const credentials = readCredentials(options);
      if (fingerprint(credentials) === used) return;
      await apply(credentials);
      used = fingerprint(credentials);
      logger.info({ files }, 'the credentials for Temporal were renewed');
    } catch (error) {
      logger.warn({ err: error, files }, 'the new credentials for Temporal cannot be used');
    }
  };
  const readNext = (): void => {
    last = last.then(read);
  };
  const timer = setInterval(readNext, READ_EVERY_MS);
  const signal = onHangUp(readNext);
  return {
    stop: () => {
      clearInterval(timer);
      signal.stop();
    },
  };
}

/** Without a listener the signal has no effect (src/platform/lib/run-process.ts). */
function onHangUp(listener: () => void): Reload {
  process.on('SIGHUP', listener);
  return {
    stop: () => {
      process.off('SIGHUP', listener);
    },
  };
}

function fingerprint({ tls, apiKey }: TemporalCredentials): string {
  const parts = typeof tls === 'object' && tls !== null ? tls : {};
  const pair = 'clientCertPair' in parts ? parts.clientCertPair : undefined;
  const authority = 'serverRootCACertificate' in parts ? parts.serverRootCACertificate : undefined;
  const hash = createHash('sha256');
  for (const part of [apiKey, pair?.crt, pair?.key, authority]) hash.update(part ?? '').update('|');
  return hash.digest('hex');
}
