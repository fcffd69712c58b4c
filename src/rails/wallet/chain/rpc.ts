/**
 * JSON-RPC of one chain, with two or more nodes. A node that does not answer is skipped for a while
 * and the next one is asked. Errors contain neither URLs, which may hold an API key, nor signed
 * transactions.
 */
import { meaningOfRefusal } from './broadcast-refusals';
import { combineAnswers } from './send-to-all';

/** The node refused the call: asking again gives the same answer, and no other node has given a better one. */
export class RpcRefusal extends Error {
  constructor(
    readonly method: string,
    readonly code: number,
    /** The node's own words, without URLs and long hexadecimal text. */
    readonly detail: string,
    /** Every node would say the same, because the refusal is about the content of the call. */
    readonly isAboutCall = true,
  ) {
    super(`${method}: ${detail} (${code})`);
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

/** The outcome of a request to a node. */
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
  /** Notified of each request, for the metrics. */
  onRequest?: (request: RpcRequest) => void;
}

const TIMEOUT_MS = 10_000;
const AVOID_MS = 30_000;
/** Most providers accept this many; a batch must also stay below their limits of size. */
export const RPC_BATCH_MAX = 20;
/** The limits of hosted nodes would refuse more, and more would fill the memory of a large installation. */
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
   * The answers are in the order of the calls. If a node refuses a call for a reason of its own, such as a method
   * that it lacks, the next node is asked at once.
   * @throws ChainUnavailable
   */
  async batch<T>(calls: readonly RpcCall[]): Promise<RpcAnswer<T>[]> {
    if (calls.length === 0) return [];
    const faults: string[] = [];
    let refused: RpcAnswer<T>[] | null = null;
    for (const node of this.inOrder()) {
      try {
        await this.checkChain(node);
        const answers = await this.ask<T>(node.url, calls);
        if (answers.every((one) => 'result' in one || one.refusal.isAboutCall)) return answers;
        refused ??= answers;
      } catch (error) {
        if (!(error instanceof NodeFault)) throw error;
        this.avoid(node);
        faults.push(`node ${String(this.nodes.indexOf(node) + 1)} ${error.message}`);
      }
    }
    if (refused !== null) return refused;
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
        if (error instanceof NodeFault) this.avoid(node);
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
   * Splits the calls into requests. At most REQUESTS_AT_ONCE are under way at the same time, and they may be
   * answered by different nodes.
   * @param size calls in one request, at most RPC_BATCH_MAX
   */
  async batches<T>(calls: readonly RpcCall[], size = RPC_BATCH_MAX): Promise<RpcAnswer<T>[]> {
    const answers = new Array<RpcAnswer<T>>(calls.length);
    let next = 0;
    const askInTurn = async (): Promise<void> => {
      while (next < calls.length) {
        const from = next;
        next += size;
        const answered = await this.batch<T>(calls.slice(from, from + size));
        for (const [index, answer] of answered.entries()) answers[from + index] = answer;
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, askInTurn));
    return answers;
  }

  /** The node that is asked now comes last for a while: its answers are of no use. */
  avoidCurrent(): void {
    const [current] = this.inOrder();
    if (current !== undefined) this.avoid(current);
  }

  /** Another program may answer at the address when the node is asked again, so it tells its chain again. */
  private avoid(node: Node): void {
    node.avoidUntil = performance.now() + this.avoidMs;
    node.isOfChain = false;
  }

  /** Checks the chain of a node before its first answer is believed, and after each fault. */
  private async checkChain(node: Node): Promise<void> {
    if (node.isOfChain) return;
    const found = await this.askChainId(node);
    if (found !== this.chainId) throw new NodeFault(`serves the chain ${found}`);
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
      const keys = keysOf(url);
      return calls.map(({ method }, id) => readAnswer<T>(method, byId.get(id), keys));
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
      // Some nodes answer a refused call with status 400 and a JSON-RPC error.
      if (!response.ok && response.status !== 400) {
        await response.body?.cancel();
        throw new NodeFault(`answered with status ${response.status}`);
      }
      return JSON.parse(await readText(response)) as unknown;
    } catch (error) {
      if (error instanceof NodeFault) throw error;
      if (error instanceof SyntaxError) throw new NodeFault('did not answer with JSON');
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      throw new NodeFault(isLate ? 'did not answer in time' : 'could not be reached');
    }
  }
}

class NodeFault extends Error {}

/** The receipts of four large blocks are below a quarter of it. */
const ANSWER_MAX_BYTES = 64 * 1_024 * 1_024;

/** @throws NodeFault for an answer that would fill the memory */
async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > ANSWER_MAX_BYTES) throw new NodeFault('answered with more than 64 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Node {
  url: string;
  /** Milliseconds since 1970. */
  avoidUntil: number;
  isOfChain: boolean;
}

/** The provider's limits and internal faults, which another node does not have. */
const NODE_FAULT_CODES: readonly number[] = [-32005, -32007, -32016, -32029, -32097, -32603, 429];
const LIMIT_WORDS =
  /request (?:count|limit)|rate ?limit|requests per|too many requests|quota|capacity|unauthorized|forbidden|api[ -]?key/i;
const REVERT_WORDS = /revert/i;
/** The node works, but does not keep the state of the block: geth, reth, nethermind, Besu, Erigon. */
const OLD_STATE_WORDS =
  /missing trie node|state\b.*\b(?:unavailable|not available|pruned)|no state available/i;
/** The recipient's contract can make every node answer an internal fault to an estimate of it. */
const ESTIMATE = 'eth_estimateGas';
/** What a node refuses of these is about their content, unless it names a limit of its own. */
const CONTENT_METHODS: readonly string[] = [ESTIMATE, 'eth_call', 'eth_sendRawTransaction'];

function readAnswer<T>(method: string, answer: unknown, keys: readonly string[]): RpcAnswer<T> {
  const error = memberOf(answer, 'error');
  if (error === undefined || error === null) {
    const result = memberOf(answer, 'result');
    if (result === undefined || (isEmptyObject(result) && !method.startsWith('txpool_'))) {
      throw new NodeFault('left a call unanswered');
    }
    return { result: result as T };
  }
  const code = memberOf(error, 'code');
  const message = memberOf(error, 'message');
  const detail = withoutSecrets(typeof message === 'string' ? message : 'no reason given', keys);
  if (typeof code !== 'number') throw new NodeFault('did not answer in the form of JSON-RPC');
  const isAboutCall = REVERT_WORDS.test(detail) || isAboutTransaction(detail);
  const isOldState = OLD_STATE_WORDS.test(detail);
  if (!isAboutCall && !isOldState && isLimitOrFault(method, code, detail)) {
    throw new NodeFault(`refused the call (${code})`);
  }
  const isOfContent = isAboutCall || (CONTENT_METHODS.includes(method) && !isOldState);
  return { refusal: new RpcRefusal(method, code, detail, isOfContent) };
}

function isLimitOrFault(method: string, code: number, detail: string): boolean {
  if (LIMIT_WORDS.test(detail)) return true;
  return NODE_FAULT_CODES.includes(code) && !(method === ESTIMATE && code === INTERNAL_ERROR);
}

const INTERNAL_ERROR = -32603;

/** Only a pool may have nothing to tell; no other method of the wallet has an empty object as its result. */
function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length === 0
  );
}

/** Geth answers -32603 or -32000 to these, according to its version. */
function isAboutTransaction(detail: string): boolean {
  return /nonce|gas/i.test(detail) || meaningOfRefusal(detail) !== null;
}

const DETAIL_LENGTH_MAX = 200;

/** Shorter parts of a URL are words such as `v3`. */
const KEY_LENGTH_MIN = 8;

/** The parts of a node's URL that may be a key, which providers quote in their refusals. */
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
