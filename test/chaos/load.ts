/**
 * Merchants, customers and operators while the faults happen. Every request of a client and its answer
 * is recorded by the idempotency key of the object that it is about.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDice, type Dice } from '../support/seeded-random';
import { Client, type LoadRecord, type ObjectHistory, type Step } from './client';
import type { ChaosMerchant, Layout } from './layout';
import type { Kind } from './object-model';
import { WAITING_STEPS } from './waiting-payouts';

export interface Load extends LoadRecord {
  /** name → how often it was begun. */
  counts: Map<string, number>;
  /** What got no answer for longer than any fault lasts. */
  unanswered: string[];
  /** Ends when what was begun has its answers. */
  stop(): Promise<void>;
}

const THREADS = 8;
/** Between two steps of a thread. */
const PAUSE_MS = 1_300;
/** Then a thread goes on to other things, and the step is finished beside them. */
const STEP_MS = 5_000;

const READS_PER_STEP = 5;
/** A payment that nobody hears of for longer gets no refund. */
const CREDITED_WITHIN_MS = 120_000;

export function startLoad(layout: Layout, seed: number): Load {
  const load: Omit<Load, 'stop'> = {
    ...{ histories: [], counts: new Map(), acts: 0, acceptedAt: [], unanswered: [] },
  };
  let isStopping = false;
  const begun = new Set<Promise<unknown>>();
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
  ...WAITING_STEPS,
  payout: { share: 9, step: (client) => createObject(client, 'payout', client.automatic) },
  approve: { share: 7, step: (client) => reviewPayout(client, 'approve') },
  reject: { share: 5, step: (client) => reviewPayout(client, 'reject') },
  cancel: { share: 7, step: cancelPayout },
  batch: { share: 5, step: (client) => createObject(client, 'payout_batch', client.automatic) },
  'review batch': { share: 4, step: reviewBatch },
  'stop batch': { share: 3, step: stopBatch },
  payment: { share: 7, step: payPayment },
  refund: { share: 5, step: refundTwice },
  'cancel payment': { share: 3, step: cancelPayment },
  'same key twice': { share: 5, step: createTwice },
  'same key later': { share: 6, step: createAgain },
  read: { share: 7, step: readObjects },
  'rotate key': { share: 2, step: (client) => client.rotateKey() },
};

async function createObject(client: Client, kind: Kind, merchant: ChaosMerchant): Promise<void> {
  await client.create(client.newObject(kind, merchant), client.anyApi());
}

async function createTwice(client: Client, dice: Dice): Promise<void> {
  const object = client.newObject('payout', dice.pick([client.automatic, client.reviewed]));
  await Promise.all([client.create(object, 0), client.create(object, 1)]);
  if (object.merchant === client.reviewed && object.id !== null)
    await client.decide(object.id, 'approve');
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

async function reviewBatch(client: Client, dice: Dice): Promise<void> {
  const object = client.newObject('payout_batch', client.reviewed);
  await client.create(object, client.anyApi());
  if (object.id === null) return;
  if (dice.roll(3) === 0) await client.decide(object.id, 'reject');
  else await client.approveBatch(object.id);
}

/** At any row. */
async function stopBatch(client: Client, dice: Dice): Promise<void> {
  const object = client.newObject('payout_batch', client.automatic);
  await client.create(object, client.anyApi());
  await sleep(dice.roll(STEP_MS));
  if (object.id !== null) await client.cancel(object);
}

async function payPayment(client: Client): Promise<ObjectHistory> {
  const object = client.newObject('payment', client.automatic);
  await client.create(object, client.anyApi());
  if (object.id !== null) await client.pay(object.id);
  return object;
}

/** Two refunds at once, which together exceed the payment: it covers one of them. */
async function refundTwice(client: Client): Promise<void> {
  const payment = await payPayment(client);
  if (payment.id === null || !client.layout.rail.refunds) return;
  const giveUpAt = performance.now() + CREDITED_WITHIN_MS;
  while ((await client.read(payment)) !== 'completed') {
    if (performance.now() > giveUpAt) return;
    await sleep(PAUSE_MS);
  }
  const refunds = [0, 1].map(() =>
    client.newObject('refund', payment.merchant, { about: payment.id }),
  );
  await Promise.all(refunds.map((refund, api) => client.create(refund, api)));
}

async function cancelPayment(client: Client): Promise<void> {
  const object = client.newObject('payment', client.automatic);
  await client.create(object, client.anyApi());
  if (object.id !== null) await client.cancel(object);
}

async function createAgain(client: Client, dice: Dice): Promise<void> {
  const object = anyKnown(client, dice);
  if (object !== null) await client.create(object, client.anyApi());
}

/** A merchant looks at what it has under way. */
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
