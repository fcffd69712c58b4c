import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  commandLineOf,
  identifyProcess,
  isSameProcess,
  stopProcess,
} from '../../../src/dev/processes';

const STUBBORN = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)";
const POLITE = "console.log('up'); setInterval(() => {}, 1000)";

test('a process is identified while it runs, and not after it has ended', async () => {
  const child = await startNode(POLITE);
  const identity = identifyProcess(child.pid!);
  expect(identity).not.toBeNull();
  expect(isSameProcess(identity!)).toBe(true);
  expect(isSameProcess({ ...identity!, started: '1' })).toBe(false);
  expect(commandLineOf(child.pid!)).toContain('setInterval');

  const ended = once(child, 'exit');
  await stopProcess(child.pid!, { signal: 'SIGTERM', graceMs: 5_000 });

  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(isSameProcess(identity!)).toBe(false);
});

test('a process that ignores the signal is killed after the grace period', async () => {
  const child = await startNode(STUBBORN);
  const ended = once(child, 'exit');
  const startedAt = Date.now();
  await stopProcess(child.pid!, { signal: 'SIGTERM', graceMs: 200 });
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(200);
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
});

test('stopping a process that has already ended does nothing', async () => {
  const child = await startNode(POLITE);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await stopProcess(child.pid!, { signal: 'SIGTERM', graceMs: 5_000 });
  expect(identifyProcess(child.pid!)).toBeNull();
});

async function startNode(program: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  return child;
}
