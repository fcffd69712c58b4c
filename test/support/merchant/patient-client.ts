/**
 * A merchant's server that follows the retry guidance: whatever is no answer (a broken connection,
 * 5xx, 429, a request in progress) is asked again with the same idempotency key.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiAnswer, MerchantClient, randomKey } from './merchant-client';

/** Retry-After is meant for busy merchants; a test waits at most this long. */
const LONGEST_WAIT_MS = 2_000;
/** Longer than an API that is killed again and again is away from one request. */
const PATIENCE_MS = 180_000;

interface CurrencyBalance {
  currency: string;
  available: string;
  reserved: string;
}

export class PatientClient {
  readonly #client: MerchantClient;
  /** How many requests were sent again because they had got no answer. */
  repeated = 0;

  constructor(baseUrl: string, apiKey: string) {
    this.#client = new MerchantClient(baseUrl, apiKey);
  }

  get(path: string): Promise<ApiAnswer> {
    return this.#retry(() => this.#client.get(path));
  }

  /** @returns the payout as the first 2xx showed it */
  async createPayout(body: unknown): Promise<{ id: string; status: string }> {
    const key = randomKey();
    const answer = await this.#retry(() => this.#client.createPayout(body, key));
    if (answer.status !== 201) throw new Error(`POST /payouts: ${answer.status} ${answer.text}`);
    return answer.json.data;
  }

  /** @returns the payment as the first 2xx showed it */
  async createPayment(body: unknown): Promise<{ id: string; status: string }> {
    const key = randomKey();
    const answer = await this.#retry(() => this.#client.createPayment(body, key));
    if (answer.status !== 201) throw new Error(`POST /payments: ${answer.status} ${answer.text}`);
    return answer.json.data;
  }

  cancelPayout(id: string): Promise<ApiAnswer> {
    return this.#retry(() => this.#client.post(`/payouts/${id}/cancel`));
  }

  async status(id: string): Promise<string> {
    return (await this.get(`/payouts/${id}`)).json.data.status;
  }

  async balance(currency = 'USDT'): Promise<{ available: string; reserved: string }> {
    const { balances } = (await this.get('/balance')).json as { balances: CurrencyBalance[] };
    const { available, reserved } = balances.find((one) => one.currency === currency)!;
    return { available, reserved };
  }

  #retry(ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    let isFirst = true;
    return retry(() => {
      if (!isFirst) this.repeated += 1;
      isFirst = false;
      return ask();
    });
  }
}

/** @param ask sends the same request each time */
export async function retry(
  ask: () => Promise<ApiAnswer>,
  isWorthAnotherTry = isNoAnswer,
): Promise<ApiAnswer> {
  let last: unknown;
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (Date.now() < giveUpAt) {
    try {
      const answer = await ask();
      if (!isWorthAnotherTry(answer)) return answer;
      last = answer.text;
      const seconds = Number(answer.headers.get('retry-after') ?? 1);
      await sleep(Math.min(seconds * 1_000, LONGEST_WAIT_MS));
    } catch (error) {
      last = error;
      await sleep(200);
    }
  }
  throw new Error('never answered', { cause: last });
}

function isNoAnswer(answer: ApiAnswer): boolean {
  return answer.status >= 500 || answer.status === 429 || isInProgress(answer);
}

/** Not any other fault: that of an engine or a provider which an overloaded machine keeps waiting. */
export function isUnavailable(answer: ApiAnswer): boolean {
  return answer.status === 503 || isInProgress(answer);
}

function isInProgress({ json }: ApiAnswer): boolean {
  return json.error?.code === 'request_in_progress';
}
