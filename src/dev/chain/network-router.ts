/**
 * One on-chain provider made of two, for `npm start -- --chain`: the wallet serves one network and
 * the sandbox the others. An order goes to the provider of its network; a question about a reference
 * goes to the wallet first, and a list is the wallet's followed by the sandbox's.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Upstreams {
  /** The base URLs of both providers; their API is below /v1. */
  wallet: string;
  sandbox: string;
  /** The network that the wallet serves. */
  network: string;
}

export interface NetworkRouter {
  url: string;
  stop: () => void;
}

const UPSTREAM_TIMEOUT_MS = 30_000;

/** Marks a cursor of the sandbox; what follows is the sandbox's own, empty for its first page. */
const SANDBOX_CURSOR = 'sandbox:';

export async function startNetworkRouter(upstreams: Upstreams): Promise<NetworkRouter> {
  const server = createServer((request, response) => {
    route(request, response, upstreams).catch(() => {
      // The gateway sees a provider that has not answered, and asks again.
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Answer {
  status: number;
  body: string;
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  upstreams: Upstreams,
): Promise<void> {
  const body = await text(request);
  const url = new URL(request.url ?? '/', 'http://router');
  const ask = (base: string, target: URL): Promise<Answer> =>
    forward(`${base}${target.pathname}${target.search}`, request, body);
  const { status, body: answer } = await answerOf(request, { url, body, upstreams, ask });
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(answer);
}

interface Routed {
  url: URL;
  body: string;
  upstreams: Upstreams;
  ask: (base: string, url: URL) => Promise<Answer>;
}

async function answerOf({ method }: IncomingMessage, routed: Routed): Promise<Answer> {
  const { url, body, upstreams, ask } = routed;
  const isCollection = /^\/v1\/(transfers|checkouts)$/.test(url.pathname);
  if (isCollection && method === 'GET') return answerList(routed);
  if (isCollection || url.pathname === '/v1/fee-estimates') {
    const network = isCollection ? readNetwork(body) : url.searchParams.get('network');
    return ask(network === upstreams.network ? upstreams.wallet : upstreams.sandbox, url);
  }
  const first = await ask(upstreams.wallet, url);
  return first.status === 404 ? ask(upstreams.sandbox, url) : first;
}

async function answerList({ url, upstreams, ask }: Routed): Promise<Answer> {
  const target = new URL(url);
  const cursor = url.searchParams.get('cursor') ?? '';
  const ofSandbox = cursor.startsWith(SANDBOX_CURSOR);
  if (ofSandbox) {
    const own = cursor.slice(SANDBOX_CURSOR.length);
    if (own === '') target.searchParams.delete('cursor');
    else target.searchParams.set('cursor', own);
  }
  const answer = await ask(ofSandbox ? upstreams.sandbox : upstreams.wallet, target);
  if (answer.status !== 200) return answer;
  const page = JSON.parse(answer.body) as { next_cursor: string | null };
  const next = ofSandbox
    ? page.next_cursor === null
      ? null
      : `${SANDBOX_CURSOR}${page.next_cursor}`
    : (page.next_cursor ?? SANDBOX_CURSOR);
  return { status: 200, body: JSON.stringify({ ...page, next_cursor: next }) };
}

function readNetwork(body: string): unknown {
  try {
    return (JSON.parse(body) as { network?: unknown } | null)?.network;
  } catch {
    return undefined;
  }
}

async function forward(url: string, request: IncomingMessage, body: string): Promise<Answer> {
  const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
  const method = request.method ?? 'GET';
  const response = await fetch(url, {
    method,
    headers: { authorization, 'content-type': type },
    ...(method === 'GET' ? {} : { body }),
    signal: AbortSignal.timeout(UPSTREAM_TIMEOUT_MS),
  });
  return { status: response.status, body: await response.text() };
}
