/**
 * A node that lies: an HTTP proxy in front of a chain's node, which answers single calls itself and
 * passes the others on. A test decides, call by call, and sees what was asked.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface AskedCall {
  method: string;
  params: unknown[];
}

type Lie = { result: unknown } | { error: { code: number; message: string } } | { status: number };

export interface LyingNode {
  url: string;
  /** Null: the call is passed on. A status is the answer to the whole request. */
  lie: (call: AskedCall) => Lie | null;
  /** Changes what the node behind answers. */
  alter: (call: AskedCall, result: unknown) => unknown;
  asked: AskedCall[];
  close: () => Promise<void>;
}

interface Request extends AskedCall {
  id: number;
}

const JSON_BODY = { 'content-type': 'application/json' };

/** @param url the node that answers what is not a lie; it may change during the test */
export async function startLyingNode(url: string | (() => string)): Promise<LyingNode> {
  const answer = async (calls: Request[]): Promise<{ status: number; answers: unknown[] }> => {
    const lies = calls.map((call) => node.lie(call));
    const [status] = lies.flatMap((lie) => (lie !== null && 'status' in lie ? [lie.status] : []));
    if (status !== undefined) return { status, answers: [] };
    const honest = calls.filter((_, index) => lies[index] === null);
    const passed = honest.length === 0 ? [] : await passOn(honest);
    const answers = calls.map(({ id }, index) => {
      const lie = lies[index];
      if (lie !== null) return { jsonrpc: '2.0', id, ...lie };
      return passed.find((one) => one.id === id);
    });
    return { status: 200, answers };
  };
  const passOn = async (calls: Request[]): Promise<{ id: number; result?: unknown }[]> => {
    const target = typeof url === 'string' ? url : url();
    const body = JSON.stringify(calls);
    const response = await fetch(target, { method: 'POST', headers: JSON_BODY, body });
    const answers = (await response.json()) as { id: number; result?: unknown }[];
    return answers.map((one) => {
      const call = calls.find(({ id }) => id === one.id);
      if (call === undefined || one.result === undefined) return one;
      return { ...one, result: node.alter(call, one.result) };
    });
  };
  const server = createServer((request, response) => {
    void text(request).then(async (asked) => {
      const content = JSON.parse(asked) as Request | Request[];
      const calls = [content].flat();
      node.asked.push(...calls);
      const { status, answers } = await answer(calls).catch(() => ({ status: 502, answers: [] }));
      const body = Array.isArray(content) ? answers : answers[0];
      response.writeHead(status, JSON_BODY).end(JSON.stringify(body ?? {}));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const node: LyingNode = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    lie: () => null,
    alter: (_call, result) => result,
    asked: [],
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return node;
}
