/**
 * Checkouts outlive the sandbox: it starts again on a copy of its data that was taken while it ran,
 * which is what a process leaves that died at that moment.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROVIDER_CODES } from '../../../src/domain/provider-codes';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/rails/sandbox/server';
import {
  buildCheckout,
  connectProviders,
  control,
  makeCredentials,
  readCheckoutEntry,
  startCallbackReceiver,
  type CallbackReceiver,
} from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

const NO_SETTLEMENT_MS = 600_000;
const credentials = makeCredentials();
const running: Sandbox[] = [];
let folder: string;
let receiver: CallbackReceiver;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-checkouts-'));
  receiver = await startCallbackReceiver();
});
afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.stop();
  await receiver.stop();
  await rm(folder, { recursive: true });
});

async function start(name: string, options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({
    credentials,
    dataDir: join(folder, name),
    callbackBaseUrl: receiver.url,
    callbackRetryMs: [20, 20],
    settleMs: 20,
    slowMs: 100,
    ...options,
  });
  running.push(sandbox);
  return sandbox;
}

const REFUND = { amount: '5', refund_reference: 're_1' };

describe.each(PROVIDER_CODES)('%s', (code) => {
  it('keeps checkouts, transfers and refunds, and the address of the page', async () => {
    const first = await start('first');
    const before = connectProviders(first, credentials);
    const order = buildCheckout(code);
    await before.get(code, 'test').openCheckout(order);
    const key = { provider: code, mode: 'test', client_reference: order.reference };
    await control(first.url, 'checkouts/pay', { ...key, at: new Date().toISOString() });
    await control(first.url, 'checkouts/refund', { ...key, ...REFUND });
    await control(first.url, 'checkouts/hold', key);
    const known = await before.get(code, 'test').findCheckout(order.reference);
    await before.close();
    await cp(join(folder, 'first'), join(folder, 'second'), { recursive: true });

    const second = await start('second', { publicUrl: first.url });
    const after = connectProviders(second, credentials);
    expect(await after.get(code, 'test').findCheckout(order.reference)).toEqual(known);
    expect(await control(second.url, 'checkouts/refund', { ...key, ...REFUND })).toBe(200);
    expect(await after.get(code, 'test').findCheckout(order.reference)).toEqual(known);
    const { id } = (await readCheckoutEntry(second.url, order.reference))!;
    expect((await fetch(`${second.url}/checkout/${id}`)).status).toBe(200);
    await after.close();
  });

  it('goes on with what was planned, once', async () => {
    const first = await start('first', { settleMs: NO_SETTLEMENT_MS });
    const before = connectProviders(first, credentials);
    const order = buildCheckout(code);
    await before.get(code, 'test').openCheckout(order);
    const key = { provider: code, mode: 'test', client_reference: order.reference };
    // Seen soon, and confirmed only by the sandbox that comes after.
    await control(first.url, 'settings', { settle_ms: 400 });
    await control(first.url, 'checkouts/pay', key);
    await before.close();
    await cp(join(folder, 'first'), join(folder, 'second'), { recursive: true });
    await running.pop()?.stop();

    const second = await start('second');
    const entry = await waitFor('the confirmation', async () => {
      const found = await readCheckoutEntry(second.url, order.reference);
      return found?.transfers[0]?.status === 'confirmed' ? found : undefined;
    });
    expect(entry).toMatchObject({ planned: [], transfers: [{ amount: '25.00000000' }] });
    expect(entry.transfers).toHaveLength(1);
  });

  it('plays the rest of a scenario in its order when all of it is overdue', async () => {
    const first = await start('first', { settleMs: 300, slowMs: 100 });
    const before = connectProviders(first, credentials);
    const order = buildCheckout(code, { scenario: 'refunded' });
    await before.get(code, 'test').openCheckout(order);
    await before.close();
    await running.pop()?.stop();
    await sleep(1_100);

    const second = await start('first', { settleMs: 300, slowMs: 100 });
    const entry = await waitFor('the end of the scenario', async () => {
      const found = await readCheckoutEntry(second.url, order.reference);
      return found?.planned.length === 0 ? found : undefined;
    });
    expect(entry).toMatchObject({
      transfers: [{ status: 'confirmed', amount: '25.00000000' }],
      refunds: [{ amount: '25.00000000' }],
    });
  });

  it('tells again what nobody acknowledged, and nothing that somebody did', async () => {
    receiver.answersBefore200.push(...Array.from({ length: 3 }, () => 500));
    const first = await start('first');
    const before = connectProviders(first, credentials);
    const [unheard, heard, lost] = [
      buildCheckout(code),
      buildCheckout(code),
      buildCheckout(code, { scenario: 'callback_lost' }),
    ];
    const provider = before.get(code, 'test');
    await provider.openCheckout(unheard);
    await provider.cancelCheckout(unheard.reference);
    await waitFor('all attempts', () => receiver.received.length === 3);
    await provider.openCheckout(heard);
    await provider.cancelCheckout(heard.reference);
    await provider.openCheckout(lost);
    await waitFor('the rest', async () => {
      const entries = await Promise.all(
        [heard, lost].map(({ reference }) => readCheckoutEntry(first.url, reference)),
      );
      const isDone = entries[0]?.acknowledged_version === 1 && entries[1]?.planned.length === 0;
      return isDone;
    });
    await before.close();
    await running.pop()?.stop();

    receiver.received.splice(0);
    const second = await start('first');
    await waitFor('the acknowledgement', async () => {
      const entry = await readCheckoutEntry(second.url, unheard.reference);
      return entry?.acknowledged_version === 1;
    });
    expect(receiver.received.map(({ rawBody }) => rawBody.includes(unheard.reference))).toEqual([
      true,
    ]);
  });
});
