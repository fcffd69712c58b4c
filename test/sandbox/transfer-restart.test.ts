/** The sandbox's book outlives kill -9: nothing that was answered is lost, nothing is sent twice. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROVIDER_CODES } from '../../src/domain/provider-codes';
import type { CredentialsTable } from '../../src/sandbox/config';
import { magicAddress, magicEmail, type ScenarioName } from '../../src/sandbox/transfers/scenarios';
import {
  buildOrder,
  connectProviders,
  makeCredentials,
  readBookEntry,
  startCallbackReceiver,
  waitFor,
  type CallbackReceiver,
} from '../support/sandbox';

const REPOSITORY = join(__dirname, '../..');
const NO_SETTLEMENT_MS = '600000';
const FOREVER_MS = 600_000;

let dataDir: string;
let receiver: CallbackReceiver;
let credentials: CredentialsTable;
const children: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-book-'));
  receiver = await startCallbackReceiver();
  credentials = makeCredentials();
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await receiver.stop();
  await rm(dataDir, { recursive: true });
});

it.each(PROVIDER_CODES)('%s settles after kill -9 what it accepted before, once', async (code) => {
  const first = await startProcess({ SANDBOX_SETTLE_MS: NO_SETTLEMENT_MS });
  const before = connectTo(first.url);
  const order = buildOrder(code);
  expect((await before.get(code, 'test').submitPayout(order)).kind).toBe('accepted');
  await kill(first.child);
  expect((await before.get(code, 'test').findPayout(order.reference)).kind).toBe('unknown');
  await before.close();

  const second = await startProcess({ SANDBOX_SETTLE_MS: '0' });
  const after = connectTo(second.url);
  const again = await after.get(code, 'test').submitPayout(order);
  expect(again).toMatchObject({ kind: 'accepted', transfer: { reference: order.reference } });
  const entry = await waitFor('the settlement', async () => {
    const found = await readBookEntry(second.url, order.reference);
    return found?.acknowledged_status === 'sent' ? found : undefined;
  });
  expect(entry).toMatchObject({ status: 'sent', submissions: 2, times_sent: 1 });
  const callback = await waitFor('the callback', () => receiver.received[0]);
  const hint = after.get(code, 'test').readCallback(callback.headers, callback.rawBody);
  expect(hint).toEqual({ object: 'payout', reference: order.reference });
  await after.close();
});

it('sends again a callback that nobody acknowledged, and no lost or acknowledged one', async () => {
  receiver.answersBefore200.push(...Array.from({ length: 1_000 }, () => 500));
  const first = await startProcess({ SANDBOX_SETTLE_MS: '0' });
  const providers = connectTo(first.url);
  const unheard = orderFor('sends');
  const lost = orderFor('callback_lost');
  for (const order of [unheard, lost]) {
    await providers.get('exchange_pay', 'test').submitPayout(order);
    await waitFor('the settlement', async () =>
      (await readBookEntry(first.url, order.reference))?.status === 'sent' ? true : undefined,
    );
  }
  await waitFor('an attempt', () => receiver.received[0]);
  await kill(first.child);
  await providers.close();

  receiver.received.splice(0);
  receiver.answersBefore200.splice(0);
  const second = await startProcess({});
  await waitForAcknowledgement(second.url, unheard.reference);
  await kill(second.child);
  const third = await startProcess({});
  const marker = orderFor('sends');
  const afterwards = connectTo(third.url);
  await afterwards.get('exchange_pay', 'test').submitPayout(marker);
  await waitForAcknowledgement(third.url, marker.reference);
  await afterwards.close();
  const about = (reference: string): number =>
    receiver.received.filter((one) => one.rawBody.includes(reference)).length;
  expect([about(unheard.reference), about(lost.reference)]).toEqual([1, 0]);
});

it('drops a torn last line and keeps everything before it', async () => {
  const first = await startProcess({ SANDBOX_SETTLE_MS: NO_SETTLEMENT_MS });
  const before = connectTo(first.url);
  const order = buildOrder('onchain_provider');
  await before.get('onchain_provider', 'live').submitPayout(order);
  await before.close();
  await kill(first.child);
  const path = join(dataDir, 'book.jsonl');
  const whole = await readFile(path, 'utf8');
  await appendFile(path, '{"type":"transfer","transf');

  const second = await startProcess({ SANDBOX_SETTLE_MS: NO_SETTLEMENT_MS });
  expect(await readBookEntry(second.url, order.reference)).toMatchObject({
    mode: 'live',
    status: 'pending',
  });
  expect(await readFile(path, 'utf8')).toBe(whole);
});

it('keeps a refused reference refused', async () => {
  const first = await startProcess({});
  const order = {
    ...buildOrder('onchain_provider'),
    destination: {
      type: 'crypto_address' as const,
      value: magicAddress('refuses', 'tron'),
      memo: null,
    },
  };
  const before = connectTo(first.url);
  expect((await before.get('onchain_provider', 'test').submitPayout(order)).kind).toBe('refused');
  await before.close();
  await kill(first.child);
  const second = await startProcess({});
  const after = connectTo(second.url);
  expect((await after.get('onchain_provider', 'test').submitPayout(order)).kind).toBe('refused');
  await after.close();
});

it.each(['SIGTERM', 'SIGINT', 'disconnect'] as const)('ends cleanly on %s', async (way) => {
  const { child, url } = await startProcess({});
  // A submission that hangs must not keep the process alive; its client would wait far longer.
  const providers = connectTo(url, FOREVER_MS);
  const order = orderFor('timeout_after_accept');
  const hanging = providers.get('exchange_pay', 'test').submitPayout(order);
  await waitFor('the submission', () => readBookEntry(url, order.reference));
  const exited = once(child, 'exit');
  if (way === 'disconnect') child.disconnect();
  else child.kill(way);
  expect(await exited).toEqual([0, null]);
  expect((await hanging).kind).toBe('unknown');
  await providers.close();
});

it('prints its help and refuses a configuration that it does not understand', async () => {
  const help = await runProcess(['--help'], {});
  expect(help.code).toBe(0);
  expect(help.output).toContain('SANDBOX_DATA_DIR');
  const wrong = await runProcess([], { SANDBOX_PORT: 'http' });
  expect(wrong.code).toBe(1);
  expect(wrong.output).toMatch(/^SANDBOX_PORT must be/);
});

function orderFor(scenario: ScenarioName) {
  const destination = { type: 'email' as const, value: magicEmail(scenario), memo: null };
  return { ...buildOrder('exchange_pay'), destination };
}

function connectTo(url: string, timeoutMs?: number) {
  return connectProviders(
    { onchainUrl: `${url}/onchain`, exchangePayUrl: `${url}/exchange-pay` },
    credentials,
    timeoutMs,
  );
}

async function waitForAcknowledgement(url: string, reference: string): Promise<void> {
  await waitFor('the acknowledgement', async () =>
    (await readBookEntry(url, reference))?.acknowledged_status === 'sent' ? true : undefined,
  );
}

function spawnSandbox(args: string[], environment: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/bin/sandbox.ts', ...args], {
    cwd: REPOSITORY,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  return child;
}

async function startProcess(
  environment: Record<string, string>,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawnSandbox([], {
    SANDBOX_PORT: '0',
    SANDBOX_DATA_DIR: dataDir,
    SANDBOX_CALLBACK_BASE_URL: receiver.url,
    ...credentialsEnvironment(),
    ...environment,
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve();
    });
    child.once('exit', () => {
      reject(new Error('the sandbox ended before it was ready'));
    });
  });
  if (child.stdout === null || child.stderr === null) throw new Error('no output to read');
  child.stderr.resume();
  const urls: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { msg, url } = JSON.parse(line) as { msg: string; url: string };
    if (msg === 'sandbox listening') urls.push(url);
  });
  await ready;
  return { child, url: await waitFor('the address', () => urls[0]) };
}

async function runProcess(
  args: string[],
  environment: Record<string, string>,
): Promise<{ code: unknown; output: string }> {
  const child = spawnSandbox(args, environment);
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part: Buffer) => parts.push(part.toString('utf8')));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: parts.join('') };
}

function credentialsEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [prefix, provider] of [
    ['ONCHAIN', 'onchain_provider'],
    ['EXCHANGE_PAY', 'exchange_pay'],
  ] as const) {
    for (const mode of ['test', 'live'] as const) {
      const own = credentials[provider][mode];
      if (own === null) continue;
      environment[`${prefix}_${mode.toUpperCase()}_API_KEY`] = own.apiKey;
      environment[`${prefix}_${mode.toUpperCase()}_CALLBACK_SECRET`] = own.callbackSecret;
    }
  }
  return environment;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
