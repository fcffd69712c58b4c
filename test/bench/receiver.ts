/** A fast receiver of webhooks: it answers at once and counts. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  /** The id of the payout or payment. */
  objectId: string;
  /** Undefined at the bare limit. */
  eventId: string | undefined;
  /** When the first byte arrived, in milliseconds since 1970. */
  at: number;
  body: string;
}

export interface CountingReceiver {
  url: string;
  total(): number;
  /** Called for each arrival. */
  onArrival: (arrival: Arrival) => void;
  stop(): Promise<void>;
}

const OBJECT_ID = /"id":"((?:po|pay)_[^"]+)"/;

export async function startCountingReceiver(): Promise<CountingReceiver> {
  let total = 0;
  const server = createServer((request, response) => {
    const at = performance.timeOrigin + performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.end();
      total += 1;
      const body = Buffer.concat(chunks).toString();
      const eventId = request.headers['x-gateway-event-id'];
      receiver.onArrival({
        objectId: OBJECT_ID.exec(body)?.[1] ?? '',
        eventId: typeof eventId === 'string' ? eventId : undefined,
        at,
        body,
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: CountingReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    total: () => total,
    onArrival: () => undefined,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}
