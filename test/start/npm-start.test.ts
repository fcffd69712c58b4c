/**
 * `npm start` as a person or a script meets it: real processes, killed in every way.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isSameProcess, type ProcessIdentity } from '../../src/dev/processes';
import { findFreePort } from '../../src/dev/ports';

const ROOT = resolve(__dirname, '../..');
const READY_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 10_000;

let folder: string;
let env: NodeJS.ProcessEnv;
const started: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'npm-start-'));
  chmodSync(folder, 0o711);
  const { TEST_POSTGRES_URL, TEST_TEMPORAL_ADDRESS, ...inherited } = process.env;
  env = { ...inherited, GATEWAY_DATA_DIR: join(folder, 'data') };
  for (const name of [
    'PORT',
    'SANDBOX_PORT',
    'TEMPORAL_PORT',
    'TEMPORAL_UI_PORT',
    'POSTGRES_PORT',
  ]) {
    env[name] = String(await findFreePort());
  }
});

afterAll(async () => {
  for (const child of started) if (child.exitCode === null) child.kill('SIGTERM');
  const identities = existsSync(join(folder, 'data')) ? recordedProcesses() : [];
  await waitUntilGone(identities, STOP_TIMEOUT_MS);
  rmSync(folder, { recursive: true });
});

test('it starts, heals, keeps its data over kill -9 and stops within ten seconds', async () => {
  const first = await start();
  expect(first.output.at(-1)).toBe('gateway ready');
  const settings = readSettings();
  expect(statSync(join(folder, 'data', 'dev.json')).mode & 0o777).toBe(0o600);
  expect(Object.keys(settings)).toEqual([
    'base_url',
    'dashboard_url',
    'operator_url',
    'sandbox_url',
    'temporal_address',
    'temporal_ui_url',
    'temporal_cli',
    'postgres_url',
    'merchant',
    'operator',
    'test_key',
    'live_key',
    'test_webhook_secret',
  ]);

  // A second one on the same folder gives way and disturbs nothing.
  const second = spawnStart();
  const [code] = (await once(second.child, 'exit')) as [number];
  expect(code).toBe(1);
  expect(second.output.join('\n')).toContain('already running');

  const worker = recordedProcesses().find((entry) => entry.name === 'worker')!;
  process.kill(worker.pid, 'SIGKILL');
  await first.waitFor('worker is ready again');

  const left = recordedProcesses();
  const supervisor = JSON.parse(readFileSync(join(folder, 'data', 'lock'), 'utf8')) as {
    pid: number;
  };
  process.kill(supervisor.pid, 'SIGKILL');
  await once(first.child, 'exit');

  const again = await start();
  expect(left.filter(isSameProcess)).toEqual([]);
  expect(readSettings()).toEqual(settings);

  const all = recordedProcesses();
  again.child.kill('SIGTERM');
  await waitUntilGone(all, STOP_TIMEOUT_MS);
  expect(all.filter(isSameProcess)).toEqual([]);
});

interface StartedGateway {
  child: ChildProcess;
  output: string[];
  waitFor: (text: string) => Promise<void>;
}

async function start(): Promise<StartedGateway> {
  const gateway = spawnStart();
  await gateway.waitFor('gateway ready');
  return gateway;
}

function spawnStart(): StartedGateway {
  const child = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output.push(...text.split('\n').filter((line) => line !== ''));
    });
  }
  const waitFor = async (text: string): Promise<void> => {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (!output.some((line) => line.includes(text))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`no "${text}" in:\n${output.join('\n')}`);
      }
      await sleep(50);
    }
  };
  return { child, output, waitFor };
}

function readSettings(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'data', 'dev.json'), 'utf8')) as Record<
    string,
    unknown
  >;
}

function recordedProcesses(): (ProcessIdentity & { name: string })[] {
  const record = JSON.parse(readFileSync(join(folder, 'data', 'run.json'), 'utf8')) as {
    processes: (ProcessIdentity & { name: string })[];
  };
  return record.processes.filter((entry) => identifyProcess(entry.pid) !== null);
}

async function waitUntilGone(identities: ProcessIdentity[], timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (identities.some(isSameProcess) && Date.now() < deadline) await sleep(50);
}
