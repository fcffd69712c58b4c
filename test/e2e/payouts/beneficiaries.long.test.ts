/**
 * Who receives the money of a payout (decisions/payouts#beneficiaries): the provider and the screening are told, whoever
 * may make payouts reads it again, and nothing else has it in plain text.
 */
import { buildBatch, buildPayout, randomKey } from '../../support/merchant/merchant-client';
import {
  acceptedPayout,
  approve,
  openMerchant,
  whenFinal,
} from '../../support/payout/payout-steps';
import { makeUser, signedIn } from '../../support/merchant/page-client';
import { scaled } from '../../support/scale';
import { startGateway } from '../../support/servers/gateway';
import { runAdmin } from '../../support/servers/gateway-admin';
import { readBookEntry, startHttpServer } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { findAnyOf, readEverything, readEveryRow } from '../../support/stored-text';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(scaled(300_000, 900_000));

const NAME = 'Zephyrine Quillfeather';
const INSTITUTION = 'Fernwick Exchange';
const BENEFICIARY = { name: NAME, kind: 'individual', institution: INSTITUTION };
const PLAIN = [NAME, INSTITUTION];

interface Question {
  reference: string;
  destination: { value: string };
  beneficiary: unknown;
}

/** A screening service that clears every destination, and keeps the questions. */
async function startScreening() {
  const questions: Question[] = [];
  const server = await startHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const question = JSON.parse(Buffer.concat(parts).toString()) as Question;
      questions.push(question);
      const { reference, destination } = question;
      const answer = { reference, destination: destination.value, verdict: 'clear' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  return { ...server, questions };
}

const world = started(async () => {
  const screening = await startScreening();
  const env = { SCREENING_URL: screening.url, SCREENING_API_KEY: 'key' };
  const gateway = await startGateway({ env });
  return {
    ...gateway,
    screening,
    stop: async () => {
      await gateway.stop();
      await screening.stop();
    },
  };
});

/** What the gateway has stored of a payout, and of its requests, in plain text. */
async function findPlain(id: string): Promise<string[]> {
  const rows = await readEveryRow(world.db);
  const history = await readEverything({ handle: world.temporal.workflow.getHandle(id) });
  return findAnyOf(PLAIN, rows + history + world.api.output + world.worker.output);
}

/** The request log is written in the background. */
async function whenLogged(text: string): Promise<void> {
  await waitFor(`a request with ${text} in the log`, async () => {
    const found = await world.db.query(
      'SELECT id FROM request_log WHERE strpos(concat(request_body, response_body), ?) > 0',
      [text],
    );
    return found.length > 0;
  });
}

test('the provider and the screening are told, and nothing that is stored has the name', async () => {
  const { client } = await openMerchant(world);
  const body = buildPayout({ beneficiary: BENEFICIARY });
  const created = await client.createPayout(body);
  expect(created.status).toBe(201);
  expect(created.json.data).not.toHaveProperty('beneficiary');
  const { id } = created.json.data;
  expect(await findPlain(id)).toEqual([]);

  await approve(world, id);
  expect(await whenFinal(client, id)).toMatchObject({
    status: 'completed',
    beneficiary: BENEFICIARY,
  });
  expect(await readBookEntry(world.sandbox.url, id)).toMatchObject({
    status: 'sent',
    beneficiary: BENEFICIARY,
  });
  const asked = world.screening.questions.filter(({ reference }) => reference === id);
  expect(asked).toEqual([expect.objectContaining({ beneficiary: BENEFICIARY })]);
  await whenLogged(String(body['reference']));
  expect(await findPlain(id)).toEqual([]);
});

test('an operator sees it on request, with an entry in the audit log; a viewer does not', async () => {
  const { client } = await openMerchant(world, { mode: 'test' });
  const id = await acceptedPayout(client, { beneficiary: BENEFICIARY });
  const url = new URL(world.baseUrl).origin;
  const path = `/console/payouts/${id}`;
  const looks = () =>
    world.db.query(
      `SELECT actor, via, before, after FROM audit_log
        WHERE object_id = ? AND action = 'payout.beneficiary_look'`,
      [id],
    );
  const viewer = await signedIn(url, await makeUser(world.db, 'operator', 'viewer'));
  expect(await viewer.read(path)).not.toContain('Show beneficiary');
  expect((await viewer.post(`${path}/beneficiary`, {})).status).toBe(403);

  const user = await makeUser(world.db, 'operator', 'reviewer');
  const reviewer = await signedIn(url, user);
  const page = await reviewer.read(path);
  expect(page).toContain('Show beneficiary');
  expect(findAnyOf(PLAIN, page)).toEqual([]);
  expect(await looks()).toEqual([]);
  const shown = await (await reviewer.post(`${path}/beneficiary`, {})).text();
  expect(findAnyOf(PLAIN, shown)).toEqual(PLAIN);
  expect(await looks()).toEqual([{ actor: user.email, via: 'console', before: null, after: null }]);

  await whenFinal(client, id);
  await runAdmin(world, 'beneficiaries', 'erase', '--before', '2100-01-01', '--reason', 'test');
  expect((await client.get(`/payouts/${id}`)).json.data.beneficiary).toBeNull();
  expect(await reviewer.read(path)).toContain('It was erased.');
});

test('each row of a batch has its own, encrypted for its payout; a row of a schedule is refused', async () => {
  const { client } = await openMerchant(world, { mode: 'test' });
  const other = { name: 'Quentin Marrowbone', kind: 'business', institution: null };
  const { name, kind } = other;
  const rows = [
    buildPayout({ beneficiary: BENEFICIARY }),
    buildPayout(),
    buildPayout({ beneficiary: { name, kind } }),
  ];
  const body = buildBatch(0, { payouts: rows });
  const key = randomKey();
  const created = await client.create('/payout_batches', body, key);
  expect([created.status, findAnyOf([...PLAIN, name], created.text)]).toEqual([201, []]);
  const { id } = created.json.data;
  const payouts = await Promise.all(
    rows.map(async ({ reference }) => {
      const { json } = await client.get(`/payouts?reference=${String(reference)}`);
      return whenFinal(client, json.data[0].id);
    }),
  );
  expect(payouts.map(({ beneficiary }) => beneficiary)).toEqual([BENEFICIARY, undefined, other]);
  const told = payouts.map(({ id: row }) => readBookEntry(world.sandbox.url, row));
  expect((await Promise.all(told)).map((entry) => entry?.beneficiary)).toEqual([
    ...[BENEFICIARY, undefined, other],
  ]);
  await whenLogged(body.reference);
  expect(findAnyOf([name], await readEveryRow(world.db))).toEqual([]);
  for (const one of [id, payouts[0].id]) expect(await findPlain(one)).toEqual([]);

  const again = await client.create('/payout_batches', body, key);
  expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', created.text]);
  const changed = {
    ...body,
    payouts: [rows[0], rows[1], { ...rows[2], beneficiary: BENEFICIARY }],
  };
  const reused = await client.create('/payout_batches', changed, key);
  expect(reused.json.error.code).toBe('idempotency_key_reused');

  const wrong = { ...body, reference: `batch-${randomKey()}` };
  wrong.payouts = [buildPayout({ beneficiary: { name: NAME } })];
  const refused = await client.create('/payout_batches', wrong);
  expect([refused.status, findAnyOf(PLAIN, refused.text)]).toEqual([422, []]);
  expect(refused.text).toContain('"beneficiary.kind"');
  const schedule = await client.create('/payout_schedules', {
    reference: `rent-${randomKey()}`,
    interval_seconds: 3_600,
    payouts: [rows[0]],
  });
  expect([schedule.status, findAnyOf(PLAIN, schedule.text)]).toEqual([422, []]);
  expect(schedule.text).toContain('"beneficiary"');
});

test('a claim that waits for its payout has no plain text either', async () => {
  const { client } = await openMerchant(world, { mode: 'test' });
  await world.worker.stop();
  const key = randomKey();
  const answer = client.createPayout(buildPayout({ beneficiary: BENEFICIARY }), key);
  const claim = await waitFor('the claim', async () => {
    const [found] = await world.db.query<{ objectId: string }>(
      `SELECT object_id FROM idempotency_keys WHERE key = ? AND state = 'running'`,
      [key],
    );
    return found;
  });
  const rows = await readEveryRow(world.db);
  expect(rows).toContain(claim.objectId);
  expect(findAnyOf(PLAIN, rows)).toEqual([]);
  await world.worker.start();
  await answer;
});
