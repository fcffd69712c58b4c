/**
 * Merchants and customers while servers are lost: payouts that are sent at once, payouts that wait for
 * an operator, and payments that are paid. Each request is repeated with its key until it is answered.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnGateway } from '../support/servers/gateway';
import {
  buildPayout,
  type ApiAnswer,
  MerchantClient,
  randomKey,
} from '../support/merchant/merchant-client';
import { buildPayment } from '../support/payment/payment-steps';
import { control } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';

export interface Acknowledged {
  kind: 'payout' | 'payment';
  id: string;
  key: string;
  body: Record<string, unknown>;
  /** The text of the answer 201. */
  text: string;
  /** The first request, and the answer 201, by Date.now(). */
  begunAt: number;
  at: number;
}

const REQUEST_TIMEOUT_MS = 8_000;
const RETRY_MS = 200;
/** Between two objects of a client. */
const PAUSE_MS = 150;

type Step = (load: MerchantLoad) => Promise<unknown>;

/** In turn. */
const STEPS: readonly Step[] = [
  (load) => load.createPayout('test'),
  (load) => load.createPayout('test'),
  (load) => load.createReviewed(),
  (load) => load.createPaid(),
];

export class MerchantLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** Keys of requests that nobody answered before the load was abandoned. */
  readonly unanswered: string[] = [];
  /** Answers that repeating the request does not heal. */
  readonly refused: string[] = [];
  readonly #gateway: OwnGateway;
  readonly #clients: Promise<unknown>;
  readonly #reviewed = new Set<string>();
  #state: 'running' | 'ending' | 'abandoned' = 'running';

  constructor(gateway: OwnGateway, clients: number) {
    this.#gateway = gateway;
    const client = async (n: number): Promise<void> => {
      for (let turn = n; this.#state === 'running'; turn += 1) {
        await STEPS[turn % STEPS.length]?.(this);
        await sleep(PAUSE_MS);
      }
    };
    this.#clients = Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
  }

  /** Resolves when every request has its answer. */
  async end(): Promise<void> {
    this.#state = 'ending';
    await this.#clients;
  }

  /** Nobody repeats a request any more. */
  async abandon(): Promise<void> {
    this.#state = 'abandoned';
    await this.#clients;
  }

  /** Sends the same request again. */
  repeat(object: Acknowledged): Promise<ApiAnswer> {
    const { testKey, liveKey } = this.#gateway.merchant;
    const apiKey = this.isReviewed(object) ? liveKey : testKey;
    const client = new MerchantClient(this.#gateway.baseUrl, apiKey);
    return client.post(`/${object.kind}s`, object.body, { 'idempotency-key': object.key });
  }

  /** Whether it waits, or waited, for an operator. */
  isReviewed({ id }: Acknowledged): boolean {
    return this.#reviewed.has(id);
  }

  async createPayout(mode: 'test' | 'live'): Promise<string | null> {
    return this.#create('payout', mode, buildPayout());
  }

  async createReviewed(): Promise<void> {
    const id = await this.createPayout('live');
    if (id !== null) this.#reviewed.add(id);
  }

  async createPaid(): Promise<void> {
    const id = await this.#create('payment', 'test', buildPayment());
    if (id === null) return;
    const paid = { provider: 'onchain_provider', mode: 'test', client_reference: id };
    await control(this.#gateway.sandbox.url, 'checkouts/pay', { ...paid, amount: '100' });
  }

  async #create(
    kind: Acknowledged['kind'],
    mode: 'test' | 'live',
    body: Record<string, unknown>,
  ): Promise<string | null> {
    const { baseUrl, merchant } = this.#gateway;
    const client = new MerchantClient(
      baseUrl,
      mode === 'test' ? merchant.testKey : merchant.liveKey,
    );
    const [key, begunAt] = [randomKey(), Date.now()];
    while (this.#state !== 'abandoned') {
      const answer = await Promise.race([
        client.post(`/${kind}s`, body, { 'idempotency-key': key }).catch(() => null),
        sleep(REQUEST_TIMEOUT_MS, null, { ref: false }),
      ]);
      if (answer?.status === 201) {
        const { id } = answer.json.data as { id: string };
        this.acknowledged.push({ kind, id, key, body, text: answer.text, begunAt, at: Date.now() });
        return id;
      }
      if (answer !== null && !isWorthAnotherTry(answer)) {
        this.refused.push(answer.text);
        return null;
      }
      await sleep(RETRY_MS);
    }
    this.unanswered.push(key);
    return null;
  }
}

function isWorthAnotherTry({ status, json }: ApiAnswer): boolean {
  return status >= 500 || status === 429 || json.error?.code === 'request_in_progress';
}

/** Until `count` more objects are acknowledged. */
export async function moreOf(load: MerchantLoad, count: number): Promise<void> {
  const wanted = load.acknowledged.length + count;
  await waitThroughFaults(
    `${count} more acknowledged objects`,
    () => load.acknowledged.length >= wanted,
  );
}

/** What an operator signals, again until a workflow takes it: it may only be about to be started. */
export async function approve({ temporal }: OwnGateway, id: string): Promise<void> {
  await waitThroughFaults(`a workflow to take the approval of ${id}`, async () => {
    await temporal.workflow.getHandle(id).signal('approve', { by: 'alice' });
    return true;
  });
}

/** Approves what waits for an operator, and waits until every payout and payment is completed. */
export async function completeAll(
  gateway: OwnGateway,
  objects: readonly Pick<Acknowledged, 'id' | 'kind'>[],
): Promise<void> {
  for (const { id, kind } of objects) {
    await waitThroughFaults(`${id} to be completed`, async () => {
      const status = await readStatus(gateway, kind, id);
      if (status === 'under_review') await approve(gateway, id);
      return status === 'completed';
    });
  }
}

async function readStatus({ db }: OwnGateway, kind: Acknowledged['kind'], id: string) {
  const [row] = await db.query<{ status: string }>(`SELECT status FROM ${kind}s WHERE id = ?`, [
    id,
  ]);
  return row?.status;
}
