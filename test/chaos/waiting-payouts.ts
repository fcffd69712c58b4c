/**
 * What merchants of the chaos run do with payouts that wait: for a time, a payment, a key, a recipient, an answer of
 * the screening, and for the next run of a schedule. judge-waiting.ts says what must be true of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  SCREENING_SCENARIOS,
  type ScreeningScenario,
} from '../../src/rails/sandbox/screening/scenarios';
import { buildRecipient, randomKey } from '../support/merchant/merchant-client';
import type { Dice } from '../support/seeded-random';
import type { Client, ObjectHistory, Step } from './client';

const CLEAR = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const OTHER = 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7';
/** What a merchant waits for at most, with what has faults meanwhile. */
const SOON_MS = 8_000;
/** Longer than the run needs to end. */
const HOUR_MS = 3_600_000;

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const toAddress = (value: string) => ({ destination: { type: 'crypto_address', value } });

/** name → how many of a hundred steps of the load it is. */
export const WAITING_STEPS: Readonly<Record<string, { share: number; step: Step }>> = {
  'timed payout': { share: 9, step: timedPayout },
  'payout that a key releases': { share: 5, step: releasedPayout },
  'payout after payment': { share: 2, step: payoutAfterPayment },
  'payout to a new recipient': { share: 4, step: payoutToRecipient },
  'screened payout': { share: 3, step: screenedPayout },
  schedule: { share: 2, step: endedSchedule },
};

async function request(
  client: Client,
  more: Record<string, unknown>,
  merchant = client.automatic,
): Promise<ObjectHistory> {
  const payout = client.newObject('payout', merchant, { more });
  await client.create(payout, client.anyApi());
  return payout;
}

/** It is sent at its time, or cancelled around it, or expires right after it. */
async function timedPayout(client: Client, dice: Dice): Promise<void> {
  const atMs = 1_000 + dice.roll(SOON_MS);
  const expires_at = inMs(atMs + (dice.roll(3) === 0 ? 1 : HOUR_MS));
  const payout = await request(client, { release: { at: inMs(atMs), expires_at } });
  if (payout.id === null || dice.roll(3) > 0) return;
  await sleep(dice.roll(SOON_MS));
  await client.cancel(payout);
}

/** Two systems of the merchant do not agree, and the time ends as well. */
async function releasedPayout(client: Client, dice: Dice): Promise<void> {
  const { second, secondKey } = client.automatic.release;
  const release = {
    approval_by_key: secondKey,
    expires_at: inMs(dice.roll(3) === 0 ? SOON_MS : HOUR_MS),
  };
  const payout = await request(client, { release });
  const { id } = payout;
  if (id === null) return;
  const approver = { ...client.automatic, key: second.apiKey, accountId: secondKey };
  const acts = [
    () =>
      client.send(approver, `the release of ${id}`, (key) => key.post(`/payouts/${id}/release`)),
    () => client.cancel(payout),
  ];
  if (dice.roll(2) === 0) acts.reverse();
  await sleep(dice.roll(SOON_MS));
  // One of them alone, or both at once.
  await Promise.all(acts.slice(0, 1 + dice.roll(2)).map((act) => act()));
}

/** Its payment is paid, or never is: then the payout is cancelled. */
async function payoutAfterPayment(client: Client, dice: Dice): Promise<void> {
  const payment = client.newObject('payment', client.automatic);
  await client.create(payment, client.anyApi());
  if (payment.id === null) return;
  const payout = await request(client, { release: { after_payment: payment.id } });
  if (dice.roll(3) > 0) await client.pay(payment.id);
  else if (payout.id !== null) await client.cancel(payout);
}

/** Its wait ends, or it gets another destination, or is deleted; one that the screening holds is given up. */
async function payoutToRecipient(client: Client, dice: Dice): Promise<void> {
  const { live } = client;
  if (live === null) return;
  const address = dice.pick([CLEAR, CLEAR, ...['block', 'review'].map(addressOf)]);
  const key = randomKey();
  const body = buildRecipient(toAddress(address));
  const made = await client.send(live, `the recipient ${key}`, (api) =>
    api.createRecipient(body, key),
  );
  const recipient = String(made.json.data.id);
  const payout = await request(
    client,
    { recipient, destination: undefined, network: undefined, release: { recipient_ready: true } },
    live,
  );
  const { id } = payout;
  if (id === null) return;
  const ends = [
    () => endWait(client, recipient, id),
    () => endWait(client, recipient, id),
    () =>
      client.send(live, `another destination of ${recipient}`, (api) =>
        api.patch(`/recipients/${recipient}`, toAddress(OTHER)),
      ),
    () =>
      client.send(live, `the end of ${recipient}`, (api) => api.delete(`/recipients/${recipient}`)),
  ];
  await sleep(dice.roll(SOON_MS));
  // One change, or two at once.
  await Promise.all(Array.from({ length: 1 + dice.roll(2) }, () => dice.pick(ends)()));
  if (address !== CLEAR) await client.cancel(payout);
}

/** Moves the recipient's time to the present, as a day does. */
async function endWait(client: Client, recipient: string, payout: string): Promise<void> {
  const { db, temporal } = client.layout.gateway;
  await client.happen(`the end of the wait of ${recipient}`, () =>
    db.transaction(async (tx) => {
      await tx.query(`SET LOCAL session_replication_role = 'replica'`);
      // Another destination waits for a day of its own.
      await tx.query(
        `UPDATE recipients SET usable_from = clock_timestamp()
          WHERE id = ? AND destination_value <> ?`,
        [recipient, OTHER],
      );
    }),
  );
  // The payout's timer is set to the time before.
  await temporal.workflow
    .getHandle(payout)
    .signal('wake')
    .catch(() => undefined);
}

const ASKED: readonly (ScreeningScenario | null)[] = [
  null,
  'slow',
  'limited',
  'error_5xx',
  'block',
  'review',
];

const addressOf = (scenario: string) => SCREENING_SCENARIOS[scenario as ScreeningScenario].tron;

/** The first payout to a destination is reviewed; what the screening holds is rejected in the end. */
async function screenedPayout(client: Client, dice: Dice): Promise<void> {
  if (client.live === null) return;
  const scenario = dice.pick(ASKED);
  const address = scenario === null ? CLEAR : addressOf(scenario);
  const { id } = await request(client, toAddress(address), client.live);
  if (id === null) return;
  await client.decide(id, 'approve');
  if (scenario !== 'review') return;
  await sleep(dice.roll(SOON_MS));
  await client.decide(id, 'reject');
}

/** Its runs stop also while nobody can end it. */
const SCHEDULE_MS = 30_000;

/** At any moment of a run. */
async function endedSchedule(client: Client, dice: Dice): Promise<void> {
  const more = { end_at: inMs(SCHEDULE_MS) };
  const schedule = client.newObject('payout_schedule', client.automatic, { more });
  await client.create(schedule, client.anyApi());
  await sleep(dice.roll(3 * SOON_MS));
  if (schedule.id !== null) await client.cancel(schedule);
}
