/**
 * A connection to one of a receiver's vetted addresses, and TLS on top of it.
 *
 * The sender dials addresses and never names, so nothing is resolved a second time between the check
 * and the connection. Undici gets the finished socket; it could open none itself.
 */
import net from 'node:net';
import tls from 'node:tls';
import { type AddressRules, isAllowedTwice } from './address-policy';
import { AttemptFailure, blocked, codeOf, tlsFailure } from './attempt-failure';

/**
 * How long an address may keep the next one waiting. Node's own `autoSelectFamily` would give an
 * address up after this time; here it stays in the race, so a slow way is not a dead one.
 */
const NEXT_ADDRESS_AFTER_MS = 250;

/**
 * The first connection that stands. The addresses are tried in turn, each a little later than the
 * one before it.
 * @throws AttemptFailure `url_blocked`, `connect_refused`, `connect_timeout` or `connection_reset`
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  rules: AddressRules,
  deadline: AbortSignal,
): Promise<net.Socket> {
  if (!addresses.every((address) => isAllowedTwice(address, rules))) throw blocked();
  const socket = await raceAddresses(addresses, port, deadline);
  // The kernel's word for where we are, before the first byte is sent.
  const peer = socket.remoteAddress;
  if (peer !== undefined && isAllowedTwice(peer, rules)) return socket;
  socket.destroy();
  throw peer === undefined
    ? new AttemptFailure('connection_reset', 'The connection was closed at once.')
    : blocked();
}

function raceAddresses(
  addresses: readonly string[],
  port: number,
  deadline: AbortSignal,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const waiting = addresses.slice();
    const open = new Set<net.Socket>();
    const codes: string[] = [];
    let timer: NodeJS.Timeout | undefined;

    const end = (settle: () => void): void => {
      clearTimeout(timer);
      deadline.removeEventListener('abort', giveUp);
      for (const socket of open) socket.destroy();
      settle();
    };
    const giveUp = (): void => end(() => reject(connectFailure(['ETIMEDOUT'])));
    const tryNext = (): void => {
      clearTimeout(timer);
      const host = waiting.shift();
      if (host === undefined) return;
      const socket = net.connect({ host, port, noDelay: true });
      open.add(socket);
      socket.once('connect', () => {
        open.delete(socket);
        end(() => resolve(socket));
      });
      // The listener stays: a socket whose error nobody hears would end the process.
      socket.on('error', (error) => {
        if (!open.delete(socket)) return;
        codes.push(codeOf(error));
        if (waiting.length > 0) tryNext();
        else if (open.size === 0) end(() => reject(connectFailure(codes)));
      });
      timer = setTimeout(tryNext, NEXT_ADDRESS_AFTER_MS);
    };

    deadline.addEventListener('abort', giveUp, { once: true });
    if (deadline.aborted) giveUp();
    else tryNext();
  });
}

/** Of several addresses the merchant hears the most telling trouble: silence before a refusal. */
function connectFailure(codes: readonly string[]): AttemptFailure {
  if (codes.includes('ETIMEDOUT')) {
    return new AttemptFailure(
      'connect_timeout',
      'The receiver did not accept a connection in time.',
    );
  }
  const unreachable = codes.every((code) => ['EHOSTUNREACH', 'ENETUNREACH'].includes(code));
  return new AttemptFailure(
    'connect_refused',
    unreachable
      ? 'There is no way to the receiver’s address.'
      : 'The receiver refused the connection: nothing listens on that port, or a firewall is shut.',
  );
}

export interface TlsSettings {
  /** The URL's host: the certificate must be for it, whatever address was dialled. */
  host: string;
  extraCa: readonly string[] | undefined;
}

/** @throws AttemptFailure `tls_error`, `connection_reset` or `timeout` */
export function secure(
  socket: net.Socket,
  { host, extraCa }: TlsSettings,
  deadline: AbortSignal,
): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = tls.connect({
      socket,
      host,
      servername: net.isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
      rejectUnauthorized: true,
      ...(extraCa === undefined ? {} : { ca: [...tls.rootCertificates, ...extraCa] }),
    });
    const end = (settle: () => void): void => {
      deadline.removeEventListener('abort', giveUp);
      settle();
    };
    const fail = (failure: AttemptFailure): void => {
      secured.destroy();
      end(() => reject(failure));
    };
    const giveUp = (): void =>
      fail(new AttemptFailure('timeout', 'The TLS handshake did not end in time.'));
    deadline.addEventListener('abort', giveUp, { once: true });
    secured.once('secureConnect', () => end(() => resolve(secured)));
    secured.on('error', (error: Error) => fail(tlsFailure(error)));
    if (deadline.aborted) giveUp();
  });
}
