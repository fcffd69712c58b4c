/**
 * A TCP proxy that a network can be taken away from without anybody being told: while it is closed, and
 * for ever on the connections of that time, nothing passes in either direction and nobody hangs up.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface BlackHole {
  port: number;
  /** From now on nothing passes. */
  swallow(): void;
  /** New connections pass again; those of before stay silent. */
  restore(): void;
  /** Connections made and not yet closed by one of their ends. */
  open(): number;
  stop(): Promise<void>;
}

export async function startBlackHole(target: { host?: string; port: number }): Promise<BlackHole> {
  const sockets = new Set<Socket>();
  let generation = 0;
  let isSilent = false;
  const server = createServer((client) => {
    const born = generation;
    const passes = (): boolean => !isSilent && born === generation;
    sockets.add(client);
    client.on('error', () => undefined);
    client.on('close', () => sockets.delete(client));
    if (isSilent) {
      client.resume();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', ...target });
    sockets.add(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk: Buffer) => {
        if (passes()) to.write(chunk);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        if (passes()) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      isSilent = true;
      generation += 1;
    },
    restore: () => {
      isSilent = false;
    },
    open: () => sockets.size,
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
