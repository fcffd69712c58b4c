/**
 * A node in front of a test's chain, which answers single calls itself and passes the others on:
 * limits, refusals and lies. A test decides, call by call, and sees what was asked.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface NodeCall {
  method: string;
  params: readonly unknown[];
}

/** In place of the chain's. A status is the answer to the whole request; nothing passes the call on. */
export type NodeAnswer =
  | { result: unknown }
  | { error: { code: number; message: string } }
  | { status: number }
  | null
  | undefined;

export interface NodeProxy {
  url: string;
  answer: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer>;
  /** Changes what the chain answers to a call that was passed on. */
  alter: (call: NodeCall, result: unknown) => unknown;
  asked: NodeCall[];
  /** Calls so far, by method. */
  calls: Map<string, number>;
  /** Requests that are being answered at the same time, at most so far. */
  mostAtOnce: () => number;
  stop: () => Promise<void>;
}

interface Request extends NodeCall {
  id: unknown;
}

interface Answer {
  id: unknown;
  result?: unknown;
}

const JSON_BODY = { 'content-type': 'application/json' };

/** @param target the node behind; it may change during the test */
export async function startNodeProxy(
  target: string | (() => string),
  answer: NodeProxy['answer'] = () => undefined,
): Promise<NodeProxy> {
  let now = 0;
  let most = 0;
  const passOn = async (calls: readonly Request[]): Promise<Answer[]> => {
    if (calls.length === 0) return [];
    const url = typeof target === 'string' ? target : target();
    const body = JSON.stringify(calls);
    const response = await fetch(url, { method: 'POST', headers: JSON_BODY, body });
    return (await response.json()) as Answer[];
  };
  const reply = async (calls: readonly Request[]): Promise<Answer[] | number> => {
    const own = await Promise.all(calls.map(async (call) => node.answer(call)));
    for (const one of own) if (one != null && 'status' in one) return one.status;
    const passed = await passOn(calls.filter((_, index) => own[index] == null));
    return calls.map((call, index) => {
      const { id } = call;
      if (own[index] != null) return { jsonrpc: '2.0', id, ...own[index] };
      const found = passed.find((one) => one.id === id) ?? { id };
      return 'result' in found ? { ...found, result: node.alter(call, found.result) } : found;
    });
  };
  const server = createServer((request, response) => {
    now += 1;
    most = Math.max(most, now);
    void text(request)
      .then(async (body) => {
        const asked = JSON.parse(body) as Request | Request[];
        const calls = [asked].flat();
        for (const { method, params } of calls) {
          node.asked.push({ method, params });
          node.calls.set(method, (node.calls.get(method) ?? 0) + 1);
        }
        const answers = await reply(calls);
        if (typeof answers === 'number') return void response.writeHead(answers).end('{}');
        const content = Array.isArray(asked) ? answers : answers[0];
        response.writeHead(200, JSON_BODY).end(JSON.stringify(content));
      })
      .catch(() => response.destroy())
      .finally(() => {
        now -= 1;
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const node: NodeProxy = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    ...{ answer, alter: (_call, result) => result, asked: [], calls: new Map() },
    mostAtOnce: () => most,
    stop: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return node;
}
