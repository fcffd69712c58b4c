/**
 * The sandbox's book survives kill -9: nothing that was answered is lost, nothing is sent twice.
 * One test kills a real process; the others start on a copy of the data of a running sandbox.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROVIDER_CODES } from '../../../src/domain/provider-codes';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/rails/sandbox/server';
import {
  magicAddress,
  magicEmail,
  type ScenarioName,
} from '../../../src/rails/sandbox/transfers/scenarios';
import {
  buildOrder,
  connectProviders,
  makeCredentials,
  readBookEntry,
  startCallbackReceiver,
  type CallbackReceiver,
} from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

const REPOSITORY = join(__dirname, '../../..');
const NO_SETTLEMENT_MS = 600_000;
const FOREVER_MS = 600_000;

const credentials = makeCredentials();
const children: ChildProcess[] = [];
const running: Sandbox[] = [];
let folder: string;
let receiver: CallbackReceiver;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-book-'));
  receiver = await startCallbackReceiver();
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  for (const sandbox of running.splice(0)) await sandbox.stop();
  await receiver.stop();
  await rm(folder, { recursive: true });
});

it('settles after kill -9 what it accepted before, once', async () => {
  const first = await startProcess({ SANDBOX_SETTLE_MS: String(NO_SETTLEMENT_MS) });
  const before = connectTo(first.url);
  const orders = PROVIDER_CODES.map((code) => ({ code, order: buildOrder(code) }));
  for (const { code, order } of orders) {
    expect((await before.get(code, 'test').submitPayout(order)).kind).toBe('accepted');
  }
  await kill(first.child);
  for (const { code, order } of orders) {
    expect((await before.get(code, 'test').findPayout(order.reference)).kind).toBe('unknown');
  }
  await before.close();

  const second = await startProcess({ SANDBOX_SETTLE_MS: '0' });
  const after = connectTo(second.url);
  for (const { code, order } of orders) {
    const again = await after.get(code, 'test').submitPayout(order);
    expect(again).toMatchObject({ kind: 'accepted', transfer: { reference: order.reference } });
    const entry = await waitFor('the settlement', async () => {
      const found = await readBookEntry(second.url, order.reference);
      return found?.acknowledged_status === 'sent' ? found : undefined;
    });
    expect(entry).toMatchObject({ status: 'sent', submissions: 2, times_sent: 1 });
    const callback = await waitFor('the callback', () =>
      receiver.received.find(({ rawBody }) => rawBody.includes(order.reference)),
    );
    const hint = after.get(code, 'test').readCallback(callback.headers, callback.rawBody);
    expect(hint).toEqual({ object: 'payout', reference: order.reference });
  }
  await after.close();
});

it('sends again a callback that was not acknowledged, and no lost or acknowledged one', async () => {
  receiver.answersBefore200.push(...Array.from({ length: 1_000 }, () => 500));
  const first = await start('first', { settleMs: 0 });
  const providers = connectTo(first.url);
  const unheard = orderFor('sends');
  const lost = orderFor('callback_lost');
  for (const order of [unheard, lost]) {
    await providers.get('exchange_pay', 'test').submitPayout(order);
    await waitFor(
      'the settlement',
      async () => (await readBookEntry(first.url, order.reference))?.status === 'sent',
    );
  }
  await waitFor('an attempt', () => receiver.received[0]);
  await copyData('first', 'second');
  await first.stop();
  await providers.close();

  receiver.received.splice(0);
  receiver.answersBefore200.splice(0);
  const second = await start('second');
  await waitForAcknowledgement(second.url, unheard.reference);
  await copyData('second', 'third');
  await second.stop();
  const third = await start('third', { settleMs: 0 });
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
  const first = await start('first');
  const before = connectTo(first.url);
  const order = buildOrder('onchain_provider');
  await before.get('onchain_provider', 'live').submitPayout(order);
  await before.close();
  await copyData('first', 'second');
  const path = join(folder, 'second', 'book.jsonl');
  const whole = await readFile(path, 'utf8');
  await appendFile(path, '{"type":"transfer","transf');

  const second = await start('second');
  expect(await readBookEntry(second.url, order.reference)).toMatchObject({
    mode: 'live',
    status: 'pending',
  });
  expect(await readFile(path, 'utf8')).toBe(whole);
});

it('keeps a refused reference refused', async () => {
  const order = {
    ...buildOrder('onchain_provider'),
    destination: {
      type: 'crypto_address' as const,
      value: magicAddress('refuses', 'tron'),
      memo: null,
    },
  };
  const first = await start('first');
  const before = connectTo(first.url);
  expect((await before.get('onchain_provider', 'test').submitPayout(order)).kind).toBe('refused');
  await before.close();
  await copyData('first', 'second');
  const second = await start('second');
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
  await waitFor(
    'the acknowledgement',
    async () => (await readBookEntry(url, reference))?.acknowledged_status === 'sent',
  );
}

/** In this process; its data lies in a folder of that name. */
async function start(name: string, options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({
    credentials,
    dataDir: join(folder, name),
    callbackBaseUrl: receiver.url,
    callbackRetryMs: [50, 50, 50],
    settleMs: NO_SETTLEMENT_MS,
    ...options,
  });
  running.push(sandbox);
  return sandbox;
}

/** What a process that died at this moment would leave. */
async function copyData(from: string, to: string): Promise<void> {
  await cp(join(folder, from), join(folder, to), { recursive: true });
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
    SANDBOX_DATA_DIR: folder,
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
