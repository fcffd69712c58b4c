/**
 * Every event of payouts and payments, from creation to end, at receivers that share no code with
 * the gateway: one of Node's http and crypto, one of Python's standard library; in both modes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Mode } from '../../../src/domain/mode';
import { startGateway, type TestGateway } from '../../support/servers/gateway';
import { runAdmin } from '../../support/servers/gateway-admin';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import { atProvider, openedPayment, whenPayment } from '../../support/payment/payment-steps';
import {
  acceptedPayout,
  approve,
  magic,
  openMerchant,
  whenFinal,
} from '../../support/payout/payout-steps';
import { createAuthority } from '../../support/servers/throw-away-certificates';
import { faultOf, type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import { waitFor } from '../../support/wait-for';

const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;
if (!HAS_PYTHON) process.stderr.write('webhook-events: there is no python3, so half is left out\n');

interface Seen {
  id: string;
  type: string;
  fault: string | null;
}

/** Whatever it is written in: its address, and what it made of each event. */
interface AnyReceiver {
  url: string;
  learn(secret: string): void;
  seen(): Seen[];
  stop(): Promise<unknown>;
}

let gateway: TestGateway;
let folder: string;
const tls = { key: '', cert: '', keyFile: '', certFile: '' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-events-'));
  const authority = createAuthority();
  Object.assign(tls, authority.issue({ hosts: ['127.0.0.1'] }), {
    keyFile: join(folder, 'key.pem'),
    certFile: join(folder, 'cert.pem'),
  });
  writeFileSync(tls.keyFile, tls.key);
  writeFileSync(tls.certFile, tls.cert);
  writeFileSync(join(folder, 'ca.pem'), authority.cert);
  gateway = await startGateway({ env: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } });
});

afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

async function nodeReceiver(mode: Mode): Promise<AnyReceiver> {
  const receiver: Receiver = await startReceiver(200, mode === 'live' ? tls : undefined);
  let secret = '';
  return {
    url: receiver.url,
    learn: (text) => (secret = text),
    seen: () =>
      receiver.received.map((one) => ({
        id: one.event.id,
        type: one.event.type,
        fault: faultOf(one, secret),
      })),
    stop: receiver.stop,
  };
}

async function pythonReceiver(mode: Mode): Promise<AnyReceiver> {
  const script = join(__dirname, '../../support/webhook/webhook-receiver.py');
  const files = mode === 'live' ? [tls.certFile, tls.keyFile] : [];
  const child = spawn('python3', [script, ...files], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const [port] = (await once(lines, 'line')) as [string];
  const seen: Seen[] = [];
  lines.on('line', (line) => seen.push(JSON.parse(line) as Seen));
  return {
    url: `${mode === 'live' ? 'https' : 'http'}://127.0.0.1:${port}/hooks`,
    learn: (secret) => child.stdin.write(`${secret}\n`),
    seen: () => seen,
    stop: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

const PAYOUT_SENT = ['requested', 'approved', 'processing', 'completed'];
const PAYMENT_PAID = ['created', 'pending', 'processing', 'completed'];

async function sendPayouts(client: MerchantClient, mode: Mode): Promise<void> {
  const ids = [
    await acceptedPayout(client),
    await acceptedPayout(client, { destination: magic('fails_later') }),
  ];
  if (mode === 'live') for (const id of ids) await approve(gateway, id);
  const cancelled = await acceptedPayout(client);
  await client.post(`/payouts/${cancelled}/cancel`);
  for (const id of ids) await whenFinal(client, id);
}

async function takePayments(client: MerchantClient): Promise<void> {
  const paid = await openedPayment(client);
  await atProvider(gateway, paid, 'start');
  await whenPayment(client, paid, 'pending');
  await atProvider(gateway, paid, 'pay', { then: 'stay' });
  await whenPayment(client, paid, 'processing');
  await atProvider(gateway, paid, 'confirm');
  await whenPayment(client, paid, 'completed');
  const left = await openedPayment(client);
  await atProvider(gateway, left, 'cancel');
  await whenPayment(client, left, 'cancelled');
}

test.each<Mode>(['test', 'live'])(
  'in %s mode every event arrives, signed, at a receiver of Node and at one of Python',
  async (mode) => {
    const { accountId, client } = await openMerchant(gateway, { mode });
    const receivers = [
      await nodeReceiver(mode),
      ...(HAS_PYTHON ? [await pythonReceiver(mode)] : []),
    ];
    const where = ['--account', accountId, '--mode', mode];
    for (const receiver of receivers) {
      const made = await runAdmin(gateway, 'webhooks', 'create', ...where, '--url', receiver.url);
      receiver.learn(made.secret);
    }
    await sendPayouts(client, mode);
    await takePayments(client);

    const events = await gateway.db.query<{ id: string; type: string }>(
      'SELECT id, type FROM events WHERE account_id = ? ORDER BY id',
      [accountId],
    );
    const types = new Set(events.map(({ type }) => type));
    for (const status of [...PAYOUT_SENT, 'failed', 'cancelled']) {
      expect(types).toContain(`payout.${status}`);
    }
    for (const status of [...PAYMENT_PAID, 'cancelled'])
      expect(types).toContain(`payment.${status}`);
    const expected = events.map((event) => ({ ...event, fault: null }));
    for (const receiver of receivers) {
      await waitFor(
        `all events at ${receiver.url}`,
        async () => receiver.seen().length >= expected.length,
      );
      const seen = [...receiver.seen()].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(seen).toEqual(expected);
      await receiver.stop();
    }
  },
);

test('a webhook’s data is what the API says of the object at that time', async () => {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
  const receiver = await startReceiver();
  const where = ['--account', accountId, '--mode', 'test'];
  await runAdmin(gateway, 'webhooks', 'create', ...where, '--url', receiver.url);
  const id = await acceptedPayout(client);
  const final = await whenFinal(client, id);
  const last = await waitFor('the last event', async () =>
    receiver.received.find(({ event }) => event.type === 'payout.completed'),
  );
  expect(last.event).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: 'payout.completed',
    mode: 'test',
    created_at: expect.any(String),
    sequence: 4,
    data: final,
  });
  await receiver.stop();
});

test('test and live, other accounts and other kinds keep apart', async () => {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
  const other = await openMerchant(gateway, { mode: 'test' });
  const [all, some, live, foreign] = await Promise.all([
    startReceiver(),
    startReceiver(),
    startReceiver(),
    startReceiver(),
  ]);
  const create = (account: string, mode: Mode, url: string, ...more: string[]) =>
    runAdmin(
      gateway,
      ...['webhooks', 'create', '--account', account, '--mode', mode, '--url', url],
      ...more,
    );
  await create(accountId, 'test', all.url);
  await create(accountId, 'test', some.url, '--events', 'payout.completed,payment.completed');
  await create(other.accountId, 'test', foreign.url);
  await expect(create(accountId, 'live', live.url)).rejects.toThrow(/https/i);
  await whenFinal(client, await acceptedPayout(client));
  await waitFor('four events', async () => all.received.length === 4);
  await waitFor('one event', async () => some.received.length === 1);
  expect(some.received[0]!.event.type).toBe('payout.completed');
  expect([live.received, foreign.received]).toEqual([[], []]);
  await Promise.all([all, some, live, foreign].map((receiver) => receiver.stop()));
});
