/** A TCP proxy between two parts, which plays what networks do to a connection. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type LinkFault =
  /** Nothing passes and nobody hangs up; connections of that time stay silent for ever. */
  | { kind: 'black_hole' }
  /** Reset before what the client sends has passed. */
  | { kind: 'lose_requests' }
  /** Reset when the server answers: the request was carried out. */
  | { kind: 'lose_answers' }
  | { kind: 'delay'; ms: number };

export interface Link {
  port: number;
  /** The port that it leads to, from the next connection on. */
  leadTo(port: number): void;
  /** Null: the network works again. */
  set(fault: LinkFault | null): void;
  stop(): Promise<void>;
}

export async function startLink(target = 0): Promise<Link> {
  const sockets = new Set<Socket>();
  let fault: LinkFault | null = null;
  let targetPort = target;
  /** Connections that lived through a black hole are of an earlier generation. */
  let generation = 0;
  const server = createServer((client) => {
    const born = generation;
    const isSilent = (): boolean => fault?.kind === 'black_hole' || born !== generation;
    keep(client);
    if (isSilent()) {
      client.resume();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: targetPort });
    keep(upstream);
    const reset = (): void => {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    };
    const pipe = (from: Socket, to: Socket, loses: LinkFault['kind']): void => {
      from.setNoDelay(true);
      const onTheWay: { chunk: Buffer; dueAt: number }[] = [];
      const deliver = async (): Promise<void> => {
        for (let next = onTheWay[0]; next !== undefined; next = onTheWay[0]) {
          await sleep(Math.max(0, next.dueAt - performance.now()));
          if (!isSilent()) to.write(next.chunk);
          onTheWay.shift();
        }
      };
      from.on('data', (chunk: Buffer) => {
        if (isSilent()) return;
        if (fault?.kind === loses) {
          reset();
          return;
        }
        // Also after the end of a delay: nothing overtakes what was sent before on the connection.
        const delayMs = fault?.kind === 'delay' ? fault.ms : 0;
        if (delayMs === 0 && onTheWay.length === 0) {
          to.write(chunk);
          return;
        }
        onTheWay.push({ chunk, dueAt: performance.now() + delayMs });
        if (onTheWay.length === 1) void deliver();
      });
      from.on('close', () => {
        if (!isSilent()) to.destroy();
      });
    };
    pipe(client, upstream, 'lose_requests');
    pipe(upstream, client, 'lose_answers');
  });
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      targetPort = port;
    },
    set: (next) => {
      if (next?.kind === 'black_hole') generation += 1;
      fault = next;
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
