/**
 * Connects to one of a receiver's allowed addresses, and secures the connection with TLS.
 *
 * The sender connects to addresses and never to names, so no name is resolved again between check and
 * connection. Node's HTTP client receives the connected socket and cannot open another one.
 */
import net from 'node:net';
import tls from 'node:tls';
import { type AddressRules, isAllowedTwice } from './address-policy';
import { AttemptFailure, blocked, codeOf, tlsFailure } from './attempt-result';

/**
 * Delay before the next address is tried as well. Node's `autoSelectFamily` abandons an address after
 * this time; here it stays in the race, so slow networks work.
 */
const NEXT_ADDRESS_AFTER_MS = 250;

/**
 * The first connection that is established. The addresses are tried in turn, each a little later than
 * the one before it.
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
  // This is the address that the kernel reports, before the first byte is sent.
  const peer = socket.remoteAddress;
  if (peer !== undefined && isAllowedTwice(peer, rules)) return socket;
  socket.destroy();
  throw peer === undefined
    ? new AttemptFailure('connection_reset', 'The connection was closed immediately.')
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
      // The listener stays, because an unhandled socket error would end the process.
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

/**
 * The failure of several addresses: a timeout is reported before a refusal, because it says more.
 */
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
      ? 'The receiver’s address is unreachable.'
      : 'The receiver refused the connection: nothing listens on the port, or a firewall blocks it.',
  );
}

export interface TlsSettings {
  /** The URL's host. The certificate must be valid for it, whatever the address. */
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
      // This is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
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
      fail(new AttemptFailure('timeout', 'The TLS handshake did not complete in time.'));
    deadline.addEventListener('abort', giveUp, { once: true });
    secured.once('secureConnect', () => end(() => resolve(secured)));
    secured.on('error', (error: Error) => fail(tlsFailure(error)));
    if (deadline.aborted) giveUp();
  });
}
