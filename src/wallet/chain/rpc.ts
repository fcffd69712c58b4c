/**
 * JSON-RPC of one chain, with two or more nodes. A node that does not answer is skipped for a while
 * and the next one is asked. Errors contain neither URLs, which may hold an API key, nor signed
 * transactions.
 */
import { meaningOfRefusal } from './broadcast-refusals';
import { isTooManyLogs } from './log-limits';
import { combineAnswers } from './send-to-all';

/** The node refused the call: asking again, or asking another node, gives the same answer. */
export class RpcRefusal extends Error {
  constructor(
    readonly method: string,
    readonly code: number,
    /** The node's own words, without URLs and long hexadecimal text. */
    readonly detail: string,
    /** The node's place in `rpc_urls`, from 0. */
    readonly node = 0,
  ) {
    super(`${method}: ${detail} (${String(code)})`);
  }
}

/** No node gave an answer. Whether a transaction was accepted is unknown. */
export class ChainUnavailable extends Error {}

/** For `catch`: a node that is silent, or refuses the question, says nothing. */
export function ignoreSilence(error: unknown): undefined {
  if (error instanceof ChainUnavailable || error instanceof RpcRefusal) return undefined;
  throw error;
}

export interface RpcCall {
  method: string;
  params?: readonly unknown[];
}

export type RpcAnswer<T = unknown> = { result: T } | { refusal: RpcRefusal };

/** What became of a request to a node. */
export interface RpcRequest {
  /** Host and port, never the URL. */
  node: string;
  /** The method of the first call of a batch. */
  method: string;
  calls: number;
  refusals: number;
  isAnswered: boolean;
  seconds: number;
}

interface RpcOptions {
  timeoutMs?: number;
  /** How long a node that did not answer is asked last. */
  avoidMs?: number;
  /** Is told of each request, for the metrics. */
  onRequest?: (request: RpcRequest) => void;
}

const TIMEOUT_MS = 10_000;
const AVOID_MS = 30_000;
/** Most providers accept this many; a batch must also stay below their limits of size. */
export const RPC_BATCH_MAX = 20;
/** More would be refused by the limits of hosted nodes, and fill the memory of a large installation. */
const REQUESTS_AT_ONCE = 4;

export class Rpc {
  private readonly nodes: Node[];
  private readonly timeoutMs: number;
  private readonly avoidMs: number;
  private readonly onRequest: (request: RpcRequest) => void;

  constructor(
    private readonly chainId: number,
    urls: readonly string[],
    { timeoutMs = TIMEOUT_MS, avoidMs = AVOID_MS, onRequest = () => undefined }: RpcOptions = {},
  ) {
    this.nodes = urls.map((url) => ({ url, avoidUntil: 0, isOfChain: false }));
    this.timeoutMs = timeoutMs;
    this.avoidMs = avoidMs;
    this.onRequest = onRequest;
  }

  /** One object for each node, for questions that every node must answer. */
  each(): Rpc[] {
    return this.nodes.map(
      ({ url }) =>
        new Rpc(this.chainId, [url], {
          timeoutMs: this.timeoutMs,
          avoidMs: this.avoidMs,
        }),
    );
  }

  /** Asks the first node, whose chain need not be that of the configuration. */
  async readChainId(): Promise<number> {
    const [node] = this.nodes;
    if (node === undefined) throw new ChainUnavailable('eth_chainId: there is no node');
    try {
      return await this.askChainId(node);
    } catch (error) {
      if (error instanceof NodeFault) throw new ChainUnavailable(`eth_chainId: ${error.message}`);
      throw error;
    }
  }

  /** @throws RpcRefusal, ChainUnavailable */
  async call<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    const [answer] = await this.batch<T>([{ method, params }]);
    if (answer === undefined) throw new ChainUnavailable(`${method}: the node gave no answer`);
    if ('refusal' in answer) throw answer.refusal;
    return answer.result;
  }

  /**
   * All calls in one request to one node, so that the answers are from the same view of the chain.
   * The answers are in the order of the calls.
   * @throws ChainUnavailable
   */
  async batch<T>(calls: readonly RpcCall[]): Promise<RpcAnswer<T>[]> {
    if (calls.length === 0) return [];
    const faults: string[] = [];
    for (const node of this.inOrder()) {
      try {
        await this.checkChain(node);
        return await this.ask<T>(node.url, calls);
      } catch (error) {
        if (!(error instanceof NodeFault)) throw error;
        node.avoidUntil = performance.now() + this.avoidMs;
        faults.push(`node ${String(this.nodes.indexOf(node) + 1)} ${error.message}`);
      }
    }
    throw new ChainUnavailable(`${calls[0]?.method ?? ''}: ${faults.join(', ')}`);
  }

  /**
   * The calls go to every node, for what each of them should know: a signed transaction.
   * @returns for each call an answer that is accepted, or else a refusal
   * @throws ChainUnavailable when no node answers
   */
  async sendToAll<T>(
    calls: readonly RpcCall[],
    isAccepted: (answer: RpcAnswer<T>) => boolean,
  ): Promise<RpcAnswer<T>[]> {
    const requests = this.inOrder().map(async (node) => {
      try {
        await this.checkChain(node);
        return await this.ask<T>(node.url, calls);
      } catch (error) {
        if (error instanceof NodeFault) node.avoidUntil = performance.now() + this.avoidMs;
        throw error;
      }
    });
    const answers = await combineAnswers(requests, isAccepted);
    if (answers === null) {
      throw new ChainUnavailable(`${calls[0]?.method ?? ''}: none of the nodes answered`);
    }
    return answers;
  }

  /**
   * Splits the calls into requests of RPC_BATCH_MAX. At most REQUESTS_AT_ONCE are under way at the same
   * time, and they may be answered by different nodes.
   */
  async batches<T>(calls: readonly RpcCall[]): Promise<RpcAnswer<T>[]> {
    const answers = new Array<RpcAnswer<T>>(calls.length);
    let next = 0;
    const askInTurn = async (): Promise<void> => {
      while (next < calls.length) {
        const from = next;
        next += RPC_BATCH_MAX;
        const answered = await this.batch<T>(calls.slice(from, from + RPC_BATCH_MAX));
        for (const [index, answer] of answered.entries()) answers[from + index] = answer;
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, askInTurn));
    return answers;
  }

  /** The node that is asked now comes last for a while: its answers are of no use. */
  avoidCurrent(): void {
    const [current] = this.inOrder();
    if (current !== undefined) current.avoidUntil = performance.now() + this.avoidMs;
  }

  /** The place in `rpc_urls` of the node that is asked next. */
  preferred(): number {
    const [first] = this.inOrder();
    return first === undefined ? 0 : this.nodes.indexOf(first);
  }

  /** Once for each node, before its first answer is believed. */
  private async checkChain(node: Node): Promise<void> {
    if (node.isOfChain) return;
    const found = await this.askChainId(node);
    if (found !== this.chainId) throw new NodeFault(`serves the chain ${String(found)}`);
    node.isOfChain = true;
  }

  private async askChainId({ url }: Node): Promise<number> {
    const [answer] = await this.ask<string>(url, [{ method: 'eth_chainId' }]);
    if (answer === undefined || 'refusal' in answer) throw new NodeFault('did not tell its chain');
    return Number(BigInt(answer.result));
  }

  private inOrder(): Node[] {
    const now = performance.now();
    const isAvoided = (node: Node): number => (node.avoidUntil > now ? 1 : 0);
    return [...this.nodes].sort((a, b) => isAvoided(a) - isAvoided(b));
  }

  private async ask<T>(url: string, calls: readonly RpcCall[]): Promise<RpcAnswer<T>[]> {
    const requests = calls.map(({ method, params = [] }, id) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    }));
    const body = JSON.stringify(requests.length === 1 ? requests[0] : requests);
    return this.observe(url, calls, async () => {
      const answer = await this.post(url, body);
      const list: unknown[] = Array.isArray(answer) ? answer : [answer];
      const byId = new Map(list.map((one) => [memberOf(one, 'id'), one]));
      const from = { keys: keysOf(url), node: this.nodes.findIndex((node) => node.url === url) };
      return calls.map(({ method }, id) => readAnswer<T>(method, byId.get(id), from));
    });
  }

  private async observe<T>(
    url: string,
    calls: readonly RpcCall[],
    ask: () => Promise<RpcAnswer<T>[]>,
  ): Promise<RpcAnswer<T>[]> {
    const startedAt = performance.now();
    let answers: RpcAnswer<T>[] | null = null;
    try {
      return (answers = await ask());
    } finally {
      this.onRequest({
        node: new URL(url).host,
        method: calls[0]?.method ?? '',
        calls: calls.length,
        refusals: answers?.filter((answer) => 'refusal' in answer).length ?? 0,
        isAnswered: answers !== null,
        seconds: (performance.now() - startedAt) / 1_000,
      });
    }
  }

  private async post(url: string, body: string): Promise<unknown> {
    const { origin, pathname, search, username, password } = new URL(url);
    const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    try {
      const response = await fetch(`${origin}${pathname}${search}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(username === '' ? {} : { authorization: `Basic ${login.toString('base64')}` }),
        },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(this.timeoutMs),
      });
      const text = await response.text();
      // Some nodes answer a refused call with status 400 and a JSON-RPC error.
      if (response.status === 429 || response.status >= 500) {
        throw new NodeFault(`answered with status ${String(response.status)}`);
      }
      return JSON.parse(text) as unknown;
    } catch (error) {
      if (error instanceof NodeFault) throw error;
      if (error instanceof SyntaxError) throw new NodeFault('did not answer with JSON');
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      throw new NodeFault(isLate ? 'did not answer in time' : 'could not be reached');
    }
  }
}

class NodeFault extends Error {}

interface Node {
  url: string;
  /** Milliseconds since 1970. */
  avoidUntil: number;
  isOfChain: boolean;
}

/** The provider's limits and internal faults, which another node does not have. */
const NODE_FAULT_CODES: readonly number[] = [-32005, -32097, -32603];
const REVERT_WORDS = /revert/i;
/** The node works, but does not keep the state of the block: geth, reth, nethermind, Besu, Erigon. */
const OLD_STATE_WORDS =
  /missing trie node|state\b.*\b(?:unavailable|not available|pruned)|no state available/i;
/** The recipient's contract can make every node answer an internal fault to an estimate of it. */
const ESTIMATE = 'eth_estimateGas';

function readAnswer<T>(
  method: string,
  answer: unknown,
  { keys, node }: { keys: readonly string[]; node: number },
): RpcAnswer<T> {
  const error = memberOf(answer, 'error');
  if (error === undefined || error === null) {
    if (memberOf(answer, 'result') === undefined) throw new NodeFault('left a call unanswered');
    return { result: memberOf(answer, 'result') as T };
  }
  const code = memberOf(error, 'code');
  const message = memberOf(error, 'message');
  const detail = withoutSecrets(typeof message === 'string' ? message : 'no reason given', keys);
  if (typeof code !== 'number') throw new NodeFault('did not answer in the form of JSON-RPC');
  if (
    NODE_FAULT_CODES.includes(code) &&
    !isTooManyLogs(method, code, detail) &&
    method !== ESTIMATE &&
    !REVERT_WORDS.test(detail) &&
    !isAboutTransaction(detail) &&
    !OLD_STATE_WORDS.test(detail)
  ) {
    throw new NodeFault(`refused the call (${String(code)})`);
  }
  return { refusal: new RpcRefusal(method, code, detail, node) };
}

/** Geth answers -32603 or -32000 to these, according to its version. */
function isAboutTransaction(detail: string): boolean {
  return /nonce|gas/i.test(detail) || meaningOfRefusal(detail) !== null;
}

const DETAIL_LENGTH_MAX = 200;

/** Shorter parts of a URL are words such as `v3`. */
const KEY_LENGTH_MIN = 8;

/** What may be a key in a node's URL: providers quote it in their refusals. */
function keysOf(url: string): string[] {
  const { pathname, searchParams, username, password } = new URL(url);
  const login = [username, password].map(decodeURIComponent);
  return [...pathname.split('/'), ...searchParams.values(), ...login].filter(
    (part) => part.length >= KEY_LENGTH_MIN,
  );
}

function withoutSecrets(text: string, keys: readonly string[]): string {
  return keys
    .reduce((rest, key) => rest.replaceAll(key, '…'), text)
    .replace(/\b(?:https?|wss?):\/\/\S+/g, '…')
    .replace(/0x[0-9a-fA-F]{65,}/g, '0x…')
    .slice(0, DETAIL_LENGTH_MAX);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
