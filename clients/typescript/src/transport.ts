/**
 * Sends one request with Node's HTTP client. The one behind the global fetch fails at a `100 Continue` that nobody asked for,
 * which some proxies send; this one passes interim answers over. No redirect is followed.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { gunzipSync } from 'node:zlib';

interface Outgoing {
  method: string;
  headers: Record<string, string>;
  body?: string;
  /** Ends the call at any time, also while the answer arrives. */
  signal: AbortSignal;
}

export async function sendWithNode(url: string, { body, ...options }: Outgoing): Promise<Response> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const order = send(url, options);
    order.on('response', resolve);
    order.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new Error('The answer changes the protocol.'));
    });
    order.on('error', reject);
    order.end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  // Nobody asked for it; some proxies compress all the same.
  const text = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return new Response(text.length === 0 ? null : new Uint8Array(text), {
    status: answer.statusCode ?? 0,
    headers,
  });
}
