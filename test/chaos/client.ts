/** What merchants, customers and operators of the chaos run do, and the record of their requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runAdmin } from '../support/servers/gateway-admin';
import { createKey } from '../support/merchant/merchant';
import { type ApiAnswer, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import type { Dice } from '../support/seeded-random';
import type { ChaosMerchant, Layout } from './layout';
import type { Operation } from './linearizability';
import type { Action, Kind, Shown } from './object-model';
import { MODE, type Rail } from './rail';

/** What the clients of one object asked and were told. */
export interface ObjectHistory {
  kind: Kind;
  key: string;
  merchant: ChaosMerchant;
  /** The payment of a refund. */
  about: string | null;
  /** More members of the request, such as `release`. */
  more: Record<string, unknown>;
  /** The id in the first answer with the object. */
  id: string | null;
  operations: Operation<Action>[];
}

/** What is noted about all requests and acts. */
export interface LoadRecord {
  histories: ObjectHistory[];
  /** What operators decided, customers paid and merchants did to their keys. */
  acts: number;
  /** Starts of requests that were accepted, by performance.now(), in their order. */
  acceptedAt: { startedAt: number; endedAt: number }[];
}

const REQUEST_TIMEOUT_MS = 8_000;
/** Longer than some faults one after the other. */
const PATIENCE_MS = 300_000;
/** Two refunds of a payment of 100 exceed it. */
const REFUNDED = '60';

/** One of those who use the gateway: it asks the API processes in turns, until it has an answer. */
export class Client {
  readonly automatic: ChaosMerchant;
  readonly reviewed: ChaosMerchant;
  /** Null: nothing is screened. */
  readonly live: ChaosMerchant | null;
  /** accountId → its API key. */
  readonly #keys = new Map<string, string>();

  constructor(
    readonly layout: Layout,
    readonly dice: Dice,
    readonly load: LoadRecord,
  ) {
    const [automatic, reviewed, live = null] = layout.merchants;
    if (automatic === undefined || reviewed === undefined) throw new Error('two merchants');
    this.automatic = automatic;
    this.reviewed = reviewed;
    this.live = live;
  }

  newObject(
    kind: Kind,
    merchant: ChaosMerchant,
    { about = null, more = {} }: Partial<Pick<ObjectHistory, 'about' | 'more'>> = {},
  ): ObjectHistory {
    const history = { kind, key: randomKey(), merchant, about, more, id: null, operations: [] };
    this.load.histories.push(history);
    return history;
  }

  anyApi(): number {
    return this.dice.roll(this.layout.baseUrls.length);
  }

  /** Sends the same request, now to one API process and then to the other, until an answer is final. */
  async create(object: ObjectHistory, firstApi: number): Promise<void> {
    const path = object.kind === 'refund' ? `/payments/${object.about}/refunds` : pathOf(object);
    const body = { ...bodyOf(object, this.layout.rail), ...object.more };
    await this.#untilAnswered(firstApi, object, (client) => {
      const sent = client.post(path, body, { 'idempotency-key': object.key });
      return { type: 'create', answer: sent };
    });
  }

  /** @returns the status; null when the object is not found */
  async read(object: ObjectHistory): Promise<string | null> {
    const shown = await this.#untilAnswered(this.anyApi(), object, (client) => ({
      type: 'read',
      answer: client.get(`${pathOf(object)}/${object.id ?? ''}`),
    }));
    return 'id' in shown ? shown.status : null;
  }

  /** A batch is stopped, and a schedule ended. */
  async cancel(object: ObjectHistory): Promise<void> {
    const verb =
      { payout_batch: 'stop', payout_schedule: 'end' }[object.kind as string] ?? 'cancel';
    await this.#untilAnswered(this.anyApi(), object, (client) => ({
      type: 'cancel',
      answer: client.post(`${pathOf(object)}/${object.id ?? ''}/${verb}`),
    }));
  }

  /** What an operator types into Temporal, again until Temporal takes it. */
  async decide(
    id: string,
    decision: 'approve' | 'reject',
    about: { manifest?: string } = {},
  ): Promise<void> {
    const reason = decision === 'reject' ? { reason: 'A test' } : {};
    await this.#act(`${decision} of ${id}`, async () => {
      const workflow = this.layout.gateway.temporal.workflow.getHandle(id);
      await workflow
        .signal(decision, { by: 'alice', ...about, ...reason })
        .catch((error: unknown) => {
          // It has ended: a cancellation came first.
          if (!String(error).includes('already completed')) throw error;
        });
    });
  }

  /** Approves the rows that the batch has now, as an operator does who looks at them before. */
  async approveBatch(id: string): Promise<void> {
    const { db } = this.layout.gateway;
    await this.#act(`the manifest of ${id}`, async () => {
      const [batch] = await db.query<{ manifest: string }>(
        'SELECT manifest_sha256 AS manifest FROM payout_batches WHERE id = ?',
        [id],
      );
      await this.decide(id, 'approve', batch);
    });
  }

  async pay(id: string): Promise<void> {
    await this.#act(`paying ${id}`, () => this.layout.rail.pay(id));
  }

  /** What no object's history tells: sent again until it is answered. @returns the answer */
  async send(
    { accountId, key }: ChaosMerchant,
    what: string,
    ask: (client: MerchantClient) => Promise<ApiAnswer>,
  ): Promise<ApiAnswer> {
    return this.#act(what, async () => {
      const baseUrl = this.layout.baseUrls[this.anyApi()] ?? '';
      const answer = await ask(new MerchantClient(baseUrl, this.#keys.get(accountId) ?? key, 1));
      if (isUnclear(answer)) throw new Error(`${answer.status} ${answer.text}`);
      return answer;
    });
  }

  /** What happens beside the gateway, until it has happened. */
  async happen(what: string, act: () => Promise<void>): Promise<void> {
    await this.#act(what, act);
  }

  /** A new key takes the place of the one before, which is revoked. */
  async rotateKey(): Promise<void> {
    const { gateway } = this.layout;
    const { accountId } = this.dice.pick([this.automatic, this.reviewed]);
    await this.#act('a new key', async () => {
      const earlier = this.#keys.get(accountId);
      const next = await createKey(gateway.db, gateway.pepper, { accountId, mode: MODE });
      this.#keys.set(accountId, next);
      if (earlier === undefined) return;
      const [row] = await gateway.db.query<{ id: string }>(
        `SELECT id FROM api_keys WHERE account_id = ? AND last_four = ? AND revoked_at IS NULL`,
        [accountId, earlier.slice(-4)],
      );
      if (row !== undefined) await runAdmin(gateway, 'keys', 'revoke', row.id);
    });
  }

  async #act<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
    this.load.acts += 1;
    return untilDone(what, act);
  }

  async #untilAnswered(firstApi: number, object: ObjectHistory, ask: Ask): Promise<Understood> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (let api = firstApi; performance.now() < giveUpAt; api += 1) {
      const key = this.#keys.get(object.merchant.accountId) ?? object.merchant.key;
      const baseUrl = this.layout.baseUrls[api % this.layout.baseUrls.length] ?? '';
      const startedAt = performance.now();
      const { type, answer } = ask(new MerchantClient(baseUrl, key, 1));
      const received = await Promise.race([
        answer.catch(() => null),
        sleep(REQUEST_TIMEOUT_MS).then(() => null),
      ]);
      const endedAt = performance.now();
      const understood = received === null ? null : understand(received);
      if (understood === null) {
        // Reads change nothing: one without an answer tells nothing.
        if (type !== 'read') {
          object.operations.push({ action: { type, answer: null }, startedAt, endedAt: null });
        }
        await sleep(500 + this.dice.roll(1_000));
        continue;
      }
      const action = actionOf(type, understood);
      object.operations.push({ action, startedAt, endedAt });
      if (type === 'create' && 'id' in understood) {
        object.id ??= understood.id;
        this.load.acceptedAt.push({ startedAt, endedAt });
      }
      return understood;
    }
    throw new Error(`no answer about the ${object.kind} with the key ${object.key}`);
  }
}

/** Something that one of them does. */
export type Step = (client: Client, dice: Dice) => Promise<unknown>;

/** The rows of a batch. */
const ROWS = 6;
/** The shortest interval of a schedule. */
const INTERVAL_SECONDS = 5;

function bodyOf({ kind, key }: ObjectHistory, rail: Rail): Record<string, unknown> {
  const reference = `chaos-${key}`;
  switch (kind) {
    case 'payout':
      return rail.payoutOf(key);
    case 'payment':
      return rail.paymentOf(key);
    case 'payout_batch': {
      const payouts = Array.from({ length: ROWS }, (_, row) => rail.payoutOf(`${key}-${row}`));
      return { reference, payouts };
    }
    case 'payout_schedule': {
      const payouts = [rail.payoutOf(`${key}-0`), rail.payoutOf(`${key}-1`)];
      return { reference, interval_seconds: INTERVAL_SECONDS, payouts };
    }
    case 'refund':
      return { reference, amount: REFUNDED };
  }
}

function pathOf({ kind }: ObjectHistory): string {
  return {
    payout: '/payouts',
    payment: '/payments',
    payout_batch: '/payout_batches',
    payout_schedule: '/payout_schedules',
    refund: '/refunds',
  }[kind];
}

type Ask = (client: MerchantClient) => { type: Action['type']; answer: Promise<ApiAnswer> };
type Understood = Shown | { refused: string };

/** Null: it says nothing about the outcome, and the client asks again. */
function understand({ status, json }: ApiAnswer): Understood | null {
  if (isUnclear({ status, json })) return null;
  if (status < 300) return { id: json.data.id, status: json.data.status };
  return { refused: String(json.error?.code) };
}

/** 401: the key was changed while the request was under way. */
function isUnclear({ status, json }: Pick<ApiAnswer, 'status' | 'json'>): boolean {
  const isRunning = json?.error?.code === 'request_in_progress';
  return status >= 500 || status === 429 || status === 401 || isRunning;
}

function actionOf(type: Action['type'], answer: Understood): Action {
  if (type === 'create') return { type, answer };
  return { type, answer: 'id' in answer ? answer : null };
}

async function untilDone<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  let last: unknown;
  while (performance.now() < giveUpAt) {
    try {
      return await Promise.race([
        act(),
        sleep(REQUEST_TIMEOUT_MS).then(() => {
          throw new Error('no answer');
        }),
      ]);
    } catch (error) {
      last = error;
      await sleep(1_000);
    }
  }
  throw new Error(`${what} did not succeed`, { cause: last });
}
