/** A node in front of a test's chain that answers single calls itself: limits, refusals and lies. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface NodeCall {
  id: unknown;
  method: string;
  params: readonly unknown[];
}

/** What the node says in place of the chain; undefined passes the call on. */
export type NodeAnswer =
  { result: unknown } | { error: { code: number; message: string } } | undefined;

export interface NodeProxy {
  url: string;
  /** Requests that are being answered at the same time, at most so far. */
  mostAtOnce: () => number;
  /** Calls so far, by method. */
  calls: ReadonlyMap<string, number>;
  stop: () => Promise<void>;
}

export async function startNodeProxy(
  target: string,
  answer: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer>,
): Promise<NodeProxy> {
  const calls = new Map<string, number>();
  let now = 0;
  let most = 0;
  const reply = async (call: NodeCall): Promise<unknown> => {
    calls.set(call.method, (calls.get(call.method) ?? 0) + 1);
    const own = await answer(call);
    if (own !== undefined) return { jsonrpc: '2.0', id: call.id, ...own };
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call),
    });
    return response.json();
  };
  const server = createServer((request, response) => {
    now += 1;
    most = Math.max(most, now);
    void text(request)
      .then(async (body) => {
        const asked = JSON.parse(body) as NodeCall | NodeCall[];
        const answers = Array.isArray(asked)
          ? await Promise.all(asked.map(reply))
          : await reply(asked);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answers));
      })
      .catch(() => response.destroy())
      .finally(() => {
        now -= 1;
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    mostAtOnce: () => most,
    calls,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
