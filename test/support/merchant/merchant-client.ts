/** A merchant's server: calls the API as any HTTP client would. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkContract } from './contract';

export interface ApiAnswer {
  status: number;
  headers: Headers;
  /** The body's exact text. */
  text: string;
  // The shape is what the tests are about.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json: any;
}

/** A request that the busy gateway refuses is sent again at most this often, as merchants are told to. */
const OVERLOADS_MAX = 30;
/** Where no test stops a worker (jest.config.js), an engine that does not answer in time is a busy machine as well. */
const OVERLOADS = [
  'overloaded',
  ...('allWorkersRun' in globalThis ? ['workflow_engine_unavailable'] : []),
];

const CANCEL = '/cancel';

/** The cancel before it, which got no answer in time, was carried out all the same. */
function isCancelledAlready(path: string, { status, json }: ApiAnswer): boolean {
  return path.endsWith(CANCEL) && status === 409 && json.error.details.status === 'cancelled';
}

export class MerchantClient {
  constructor(
    readonly baseUrl: string,
    readonly apiKey: string,
    /** How often a request is sent at most while the gateway answers that it is busy. */
    private readonly overloadsMax = OVERLOADS_MAX,
  ) {}

  async get(path: string): Promise<ApiAnswer> {
    return this.#send('GET', path, {});
  }

  async post(path: string, body?: unknown, headers: Record<string, string> = {}) {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.#send('POST', path, { ...type, ...headers }, text);
  }

  async patch(path: string, body: unknown): Promise<ApiAnswer> {
    const headers = { 'content-type': 'application/json' };
    return this.#send('PATCH', path, headers, JSON.stringify(body));
  }

  async delete(path: string): Promise<ApiAnswer> {
    return this.#send('DELETE', path, {});
  }

  /** POST /recipients with a key of its own unless one is given. */
  async createRecipient(body: unknown, idempotencyKey = randomKey()): Promise<ApiAnswer> {
    return this.post('/recipients', body, { 'idempotency-key': idempotencyKey });
  }

  /** POST /payouts with a key of its own unless one is given. */
  async createPayout(body: unknown, idempotencyKey = randomKey()): Promise<ApiAnswer> {
    return this.post('/payouts', body, { 'idempotency-key': idempotencyKey });
  }

  /** POST /payments with a key of its own unless one is given. */
  async createPayment(body: unknown, idempotencyKey = randomKey()): Promise<ApiAnswer> {
    return this.post('/payments', body, { 'idempotency-key': idempotencyKey });
  }

  /** POST of anything else that is created once, with a key of its own unless one is given. */
  async create(path: string, body: unknown, idempotencyKey = randomKey()): Promise<ApiAnswer> {
    return this.post(path, body, { 'idempotency-key': idempotencyKey });
  }

  /** POST with a body that is spelled out. */
  async createFromText(
    path: '/payouts' | '/payments',
    text: string,
    idempotencyKey: string,
  ): Promise<ApiAnswer> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
    return this.#send('POST', path, headers, text);
  }

  async #send(method: string, path: string, headers: Record<string, string>, body?: string) {
    let mayHaveWorked = false;
    for (let sent = 1; ; sent += 1) {
      const answer = await this.#sendOnce(method, path, headers, body);
      if (mayHaveWorked && isCancelledAlready(path, answer)) {
        return this.get(path.slice(0, -CANCEL.length));
      }
      const reason = answer.json?.error?.details?.reason;
      if (!OVERLOADS.includes(reason) || sent === this.overloadsMax) return answer;
      mayHaveWorked ||= reason === 'workflow_engine_unavailable';
      await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 1));
    }
  }

  async #sendOnce(method: string, path: string, headers: Record<string, string>, body?: string) {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const { status, headers: received } = response;
    const isText = /^text\/|xml/.test(received.get('content-type') ?? '');
    const json: unknown = isText ? text : JSON.parse(text);
    const answer: ApiAnswer = { status, headers: received, text, json };
    checkContract(method, path, answer);
    return answer;
  }
}

export function randomKey(): string {
  return randomBytes(12).toString('hex');
}

/** A recipient that the sandbox would simply pay. */
export function buildRecipient(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  const { currency, network, destination } = buildPayout();
  return { name: 'Ada Lovelace', currency, network, destination, ...overrides };
}

/** A payout that the sandbox would simply send; each with a reference of its own. */
export function buildPayout(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amount: '10',
    currency: 'USDT',
    network: 'tron',
    reference: `ref-${randomKey()}`,
    destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    ...overrides,
  };
}

/** A batch of so many payouts. */
export function buildBatch(count: number, overrides: Record<string, unknown> = {}) {
  const payouts = Array.from({ length: count }, () => buildPayout());
  return { reference: `batch-${randomKey()}`, payouts, ...overrides };
}

/** A schedule of one payout every five seconds. */
export function buildSchedule(overrides: Record<string, unknown> = {}) {
  const payouts = [buildPayout({ reference: `row-${randomKey()}` })];
  return { reference: `schedule-${randomKey()}`, interval_seconds: 5, payouts, ...overrides };
}

/** A payout that names a recipient in place of a destination. */
export function payTo(recipient: string, overrides: Record<string, unknown> = {}) {
  const { destination: _destination, network: _network, ...body } = buildPayout(overrides);
  return { ...body, recipient };
}
