/**
 * A merchant's receiver, written with Node's http and crypto alone from the specification's words:
 * nothing of the gateway is in it, so that both sides cannot share a mistake.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Received {
  at: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** The envelope. */
  // The shape is what the tests are about.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  event: any;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Those of one event, in their order. */
  of(eventId: string): Received[];
  /** What is answered from now on; a number is a status, a function may do as it likes. */
  answer: number | RequestListener;
  stop(): Promise<void>;
}

/** @param tls with it the receiver speaks https */
export async function startReceiver(
  answer: Receiver['answer'] = 200,
  tls?: { key: string; cert: string },
): Promise<Receiver> {
  const received: Received[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { headers } = request;
      received.push({ at: Date.now(), headers, body, event: JSON.parse(body.toString()) });
      if (typeof receiver.answer === 'number') response.writeHead(receiver.answer).end('ok');
      else receiver.answer(request, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  // A test that failed and did not stop it must not keep jest running.
  server.unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/hooks`,
    received,
    of: (eventId) => received.filter((one) => one.headers['x-gateway-event-id'] === eventId),
    answer,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

const TOLERANCE_SECONDS = 300;

/** The specification, "Signature verification", as it came in: what is wrong, or null. */
export function faultOf({ at, headers, body, event }: Received, secret: string): string | null {
  const signature = String(headers['x-gateway-signature']);
  const parts = new Map(signature.split(',').map((part) => part.split('=', 2) as [string, string]));
  const t = parts.get('t') ?? '';
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  const given = Buffer.from(parts.get('v1') ?? '', 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'v1 is wrong';
  if (Math.abs(at / 1000 - Number(t)) > TOLERANCE_SECONDS) return 't is too far away';
  if (headers['x-gateway-timestamp'] !== t) return 'X-Gateway-Timestamp is not t';
  if (headers['x-gateway-event-id'] !== event.id) return 'X-Gateway-Event-Id is not the id';
  if (headers['x-gateway-event'] !== event.type) return 'X-Gateway-Event is not the type';
  if (headers['content-type'] !== 'application/json') return 'Content-Type is not JSON';
  return null;
}
