/**
 * Merchants, customers and operators while the faults happen. Every request of a client and its answer
 * is recorded by the idempotency key of the object that it is about.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runAdmin } from '../support/servers/gateway-admin';
import { createKey } from '../support/merchant/merchant';
import { type ApiAnswer, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { createDice, type Dice } from '../support/seeded-random';
import type { ChaosMerchant, Layout } from './layout';
import type { Operation } from './linearizability';
import type { Action, Kind, Shown } from './object-model';
import { MODE } from './rail';

/** What the clients of one object asked and were told. */
export interface ObjectHistory {
  kind: Kind;
  key: string;
  merchant: ChaosMerchant;
  /** Of the first answer with the object. */
  id: string | null;
  operations: Operation<Action>[];
}

export interface Load {
  histories: ObjectHistory[];
  /** name → how often it was begun. */
  counts: Map<string, number>;
  /** What operators decided, customers paid and merchants did to their keys. */
  acts: number;
  /** Starts of requests that were accepted, by performance.now(), in their order. */
  acceptedAt: { startedAt: number; endedAt: number }[];
  /** What got no answer for longer than any fault lasts. */
  unanswered: string[];
  /** Ends when what was begun has its answers. */
  stop(): Promise<void>;
}

const THREADS = 8;
/** Between two steps of a thread. */
const PAUSE_MS = 1_300;
const REQUEST_TIMEOUT_MS = 8_000;
/** Longer than some faults one after the other. */
const PATIENCE_MS = 300_000;
/** Then a thread goes on to other things, and the step is finished beside them. */
const STEP_MS = 5_000;

const READS_PER_STEP = 5;

type Step = (client: Client, dice: Dice) => Promise<void>;

export function startLoad(layout: Layout, seed: number): Load {
  const load: Omit<Load, 'stop'> = {
    ...{ histories: [], counts: new Map(), acts: 0, acceptedAt: [], unanswered: [] },
  };
  let isStopping = false;
  const begun = new Set<Promise<void>>();
  const steps = Object.entries(STEPS).flatMap(([name, { share, step }]) =>
    Array<[string, Step]>(share).fill([name, step]),
  );
  const thread = async (n: number): Promise<void> => {
    const dice = createDice(seed + n + 1);
    const client = new Client(layout, dice, load);
    while (!isStopping) {
      const [name, step] = dice.pick(steps);
      load.counts.set(name, (load.counts.get(name) ?? 0) + 1);
      const done = step(client, dice).catch((error: unknown) => {
        load.unanswered.push(String(error));
      });
      begun.add(done);
      void done.then(() => begun.delete(done));
      await Promise.race([done, sleep(STEP_MS)]);
      await sleep(dice.roll(2 * PAUSE_MS));
    }
  };
  const threads = Promise.all(Array.from({ length: THREADS }, (_, n) => thread(n)));
  return Object.assign(load, {
    stop: async () => {
      isStopping = true;
      await threads;
      await Promise.all(begun);
    },
  });
}

/** name → how many of a hundred steps it is. */
const STEPS: Readonly<Record<string, { share: number; step: Step }>> = {
  payout: { share: 22, step: (client) => createObject(client, 'payout', client.automatic) },
  approve: { share: 13, step: (client) => reviewPayout(client, 'approve') },
  reject: { share: 5, step: (client) => reviewPayout(client, 'reject') },
  cancel: { share: 7, step: cancelPayout },
  payment: { share: 14, step: payPayment },
  'same key twice': { share: 5, step: createTwice },
  'same key later': { share: 14, step: createAgain },
  read: { share: 18, step: readObjects },
  'rotate key': { share: 2, step: (client) => client.rotateKey() },
};

async function createObject(client: Client, kind: Kind, merchant: ChaosMerchant): Promise<void> {
  await client.create(client.newObject(kind, merchant), client.anyApi());
}

async function createTwice(client: Client, dice: Dice): Promise<void> {
  const object = client.newObject('payout', dice.pick([client.automatic, client.reviewed]));
  await Promise.all([client.create(object, 0), client.create(object, 1)]);
  if (object.merchant.isReviewed && object.id !== null) await client.decide(object.id, 'approve');
}

async function reviewPayout(client: Client, decision: 'approve' | 'reject'): Promise<void> {
  const object = client.newObject('payout', client.reviewed);
  await client.create(object, client.anyApi());
  if (object.id !== null) await client.decide(object.id, decision);
}

/** A refused cancellation is followed by an operator's rejection, so that nothing stays open. */
async function cancelPayout(client: Client): Promise<void> {
  const object = client.newObject('payout', client.reviewed);
  await client.create(object, client.anyApi());
  if (object.id === null) return;
  await client.cancel(object);
  await client.read(object);
  await client.decide(object.id, 'reject');
}

async function payPayment(client: Client): Promise<void> {
  const object = client.newObject('payment', client.automatic);
  await client.create(object, client.anyApi());
  if (object.id !== null) await client.pay(object.id);
}

async function createAgain(client: Client, dice: Dice): Promise<void> {
  const object = anyKnown(client, dice);
  if (object !== null) await client.create(object, client.anyApi());
}

/** As a merchant looks after what it has under way. */
async function readObjects(client: Client, dice: Dice): Promise<void> {
  for (let n = 0; n < READS_PER_STEP; n += 1) {
    const object = anyKnown(client, dice);
    if (object !== null) await client.read(object);
  }
}

function anyKnown({ load }: Client, dice: Dice): ObjectHistory | null {
  const known = load.histories.filter(({ id }) => id !== null);
  return known.length === 0 ? null : dice.pick(known.slice(-50));
}

class Client {
  readonly automatic: ChaosMerchant;
  readonly reviewed: ChaosMerchant;
  /** accountId → its API key. */
  readonly #keys = new Map<string, string>();

  constructor(
    readonly layout: Layout,
    readonly dice: Dice,
    readonly load: Pick<Load, 'histories' | 'acceptedAt' | 'acts'>,
  ) {
    const [automatic, reviewed] = layout.merchants;
    if (automatic === undefined || reviewed === undefined) throw new Error('two merchants');
    this.automatic = automatic;
    this.reviewed = reviewed;
  }

  newObject(kind: Kind, merchant: ChaosMerchant): ObjectHistory {
    const history = { kind, key: randomKey(), merchant, id: null, operations: [] };
    this.load.histories.push(history);
    return history;
  }

  anyApi(): number {
    return this.dice.roll(this.layout.baseUrls.length);
  }

  /** Sends the same request, now to one API process and then to the other, until an answer is final. */
  async create(object: ObjectHistory, firstApi: number): Promise<void> {
    const { rail } = this.layout;
    const body = object.kind === 'payout' ? rail.payoutOf(object.key) : rail.paymentOf(object.key);
    await this.#untilAnswered(firstApi, object, (client) => {
      const sent = client.post(`/${object.kind}s`, body, { 'idempotency-key': object.key });
      return { type: 'create', answer: sent };
    });
  }

  async read(object: ObjectHistory): Promise<void> {
    await this.#untilAnswered(this.anyApi(), object, (client) => ({
      type: 'read',
      answer: client.get(`/${object.kind}s/${object.id ?? ''}`),
    }));
  }

  async cancel(object: ObjectHistory): Promise<void> {
    await this.#untilAnswered(this.anyApi(), object, (client) => ({
      type: 'cancel',
      answer: client.post(`/payouts/${object.id ?? ''}/cancel`),
    }));
  }

  /** What an operator types into Temporal, again until Temporal takes it. */
  async decide(id: string, decision: 'approve' | 'reject'): Promise<void> {
    const reason = decision === 'reject' ? { reason: 'A test' } : {};
    await this.#act(`${decision} of ${id}`, async () => {
      const workflow = this.layout.gateway.temporal.workflow.getHandle(id);
      await workflow.signal(decision, { by: 'alice', ...reason }).catch((error: unknown) => {
        // It has ended: a cancellation came first.
        if (!String(error).includes('already completed')) throw error;
      });
    });
  }

  async pay(id: string): Promise<void> {
    await this.#act(`paying ${id}`, () => this.layout.rail.pay(id));
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

  async #act(what: string, act: () => Promise<void>): Promise<void> {
    this.load.acts += 1;
    await untilDone(what, act);
  }

  async #untilAnswered(firstApi: number, object: ObjectHistory, ask: Ask): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (let api = firstApi; performance.now() < giveUpAt; api += 1) {
      const key = this.#keys.get(object.merchant.accountId) ?? object.merchant.testKey;
      const baseUrl = this.layout.baseUrls[api % this.layout.baseUrls.length] ?? '';
      const startedAt = performance.now();
      const { type, answer } = ask(new MerchantClient(baseUrl, key));
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
      return;
    }
    throw new Error(`no answer about the ${object.kind} with the key ${object.key}`);
  }
}

type Ask = (client: MerchantClient) => { type: Action['type']; answer: Promise<ApiAnswer> };
type Understood = Shown | { refused: string };

/** Null: it says nothing about the outcome, and the client asks again. */
function understand({ status, json }: ApiAnswer): Understood | null {
  // 401: the key was changed while the request was under way.
  if (status >= 500 || status === 429 || status === 401) return null;
  if (status < 300) return { id: json.data.id, status: json.data.status };
  const code = String(json.error?.code);
  return code === 'request_in_progress' ? null : { refused: code };
}

function actionOf(type: Action['type'], answer: Understood): Action {
  if (type === 'create') return { type, answer };
  return { type, answer: 'id' in answer ? answer : null };
}

async function untilDone(what: string, act: () => Promise<void>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  let last: unknown;
  while (performance.now() < giveUpAt) {
    try {
      await Promise.race([
        act(),
        sleep(REQUEST_TIMEOUT_MS).then(() => {
          throw new Error('no answer');
        }),
      ]);
      return;
    } catch (error) {
      last = error;
      await sleep(1_000);
    }
  }
  throw new Error(`${what} did not succeed`, { cause: last });
}
