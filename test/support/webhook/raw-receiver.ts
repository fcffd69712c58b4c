/**
 * Receivers on bare sockets, which can misbehave as no HTTP library would, and the trap: a listener
 * on an address that the sender must not call, which only counts.
 */
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

export interface RawReceiver {
  port: number;
  /** Connections that were accepted. */
  connections: number;
  /** What came, one text a connection, in latin1. */
  received: string[];
  close: () => Promise<void>;
}

/** What happens once the request is here: its head, at least. */
export type Behaviour = (socket: net.Socket) => void;

/** The sender may call this one in the tests: their rules allow it. */
export const RECEIVER_ADDRESS = '127.0.0.1';

export async function startReceiver(
  behave: Behaviour,
  secure?: tls.TlsOptions,
): Promise<RawReceiver> {
  const serve = (socket: net.Socket): void => {
    socket.on('error', () => socket.destroy());
    const index = receiver.received.push('') - 1;
    let text = '';
    let answered = false;
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      receiver.received[index] = text;
      if (answered || !text.includes('\r\n\r\n')) return;
      answered = true;
      behave(socket);
    });
  };
  const server = secure === undefined ? net.createServer(serve) : tls.createServer(secure, serve);
  const receiver = await listen(server, RECEIVER_ADDRESS);
  return receiver;
}

/** Behaves from the first moment on, before any byte came. */
export async function startRawListener(
  behave: Behaviour,
  host = RECEIVER_ADDRESS,
): Promise<RawReceiver> {
  return listen(
    net.createServer((socket) => {
      socket.on('error', () => socket.destroy());
      behave(socket);
    }),
    host,
  );
}

/** Answers with this text, and ends. */
export function answer(text: string | Buffer): Behaviour {
  return (socket) => socket.end(text);
}

/** Writes the same again and again for as long as the other side takes it. */
export function flood(
  start: string,
  piece: string | Buffer,
  onWritten?: (bytes: number) => void,
): Behaviour {
  return (socket) => {
    socket.write(start);
    const more = (): void => {
      while (socket.writable && socket.write(piece)) onWritten?.(piece.length);
      if (socket.writable) socket.once('drain', more);
    };
    more();
  };
}

/** Writes one character at a time, for as long as the connection stands. */
export function drip(text: string, everyMs: number): Behaviour {
  return (socket) => {
    let at = 0;
    const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), everyMs);
    socket.once('close', () => clearInterval(timer));
  };
}

async function listen(server: net.Server, host: string): Promise<RawReceiver> {
  const sockets = new Set<net.Socket>();
  const receiver: RawReceiver = {
    port: 0,
    connections: 0,
    received: [],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('connection', (socket: net.Socket) => {
    receiver.connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // A failed handshake is what some tests are about.
  server.on('tlsClientError', () => undefined);
  server.listen(0, host);
  await once(server, 'listening');
  receiver.port = (server.address() as net.AddressInfo).port;
  return receiver;
}

export interface Trap extends RawReceiver {
  address: string;
}

/** On another address of this machine, which the tests' rules do not allow. */
export async function startTrap(): Promise<Trap> {
  // Linux has all of 127/8; elsewhere the IPv6 loopback serves.
  for (const address of ['127.0.0.2', '::1']) {
    try {
      const trap = await startRawListener(
        (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'),
        address,
      );
      return Object.assign(trap, { address });
    } catch (error) {
      if (
        !['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '')
      ) {
        throw error;
      }
    }
  }
  throw new Error('This machine has neither 127.0.0.2 nor ::1, so a trap cannot be set.');
}
