/**
 * HTTP calls with Node's client, on kept connections: to providers, to the screening and to signing services. It
 * passes interim answers over (100 to 103), also a `100 Continue` that nobody asked for, at which undici fails.
 * Nothing is retried, and no redirect is followed.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, request as requestHttps } from 'node:https';
import { addAbortSignal } from 'node:stream';

/** A request. */
export interface HttpCall {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | undefined;
  /** Ends the call at any time, also while its body arrives. */
  signal: AbortSignal;
}

/** Kept connections, and how requests are sent on them. */
export interface HttpConnections {
  /** Sends a request, and returns when the headers of the answer have arrived. */
  send(url: string, call: HttpCall): Promise<IncomingMessage>;
  close(): Promise<void>;
}

/** Servers close idle connections after 5 seconds or more, and a call on one that is being closed fails. */
const IDLE_MS = 4_000;

/** @param options of the agent, such as `maxSockets` for each address, and of TLS */
export function createHttpConnections(options: AgentOptions): HttpConnections {
  const kept = { keepAlive: true, timeout: IDLE_MS, ...options };
  const http = new HttpAgent(kept);
  const https = new HttpsAgent(kept);
  return {
    async send(url, { body, ...call }) {
      const order = url.startsWith('https:')
        ? requestHttps(url, { ...call, agent: https })
        : requestHttp(url, { ...call, agent: http });
      return addAbortSignal(call.signal, await answerOf(order, body));
    },
    close: () => {
      http.destroy();
      https.destroy();
      return Promise.resolve();
    },
  };
}

/** Sends the request. @returns the answer once its headers are complete */
export function answerOf(
  order: ClientRequest,
  body: string | Buffer | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    order.on('response', resolve);
    order.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new Error('The answer changes the protocol.'));
    });
    // An error can also come after the answer; its body then ends early.
    order.on('error', reject);
    order.end(body);
  });
}

/** Thrown when the body of an answer is longer than allowed. */
export class AnswerTooLarge extends Error {}

/** @throws AnswerTooLarge */
export async function readText(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
