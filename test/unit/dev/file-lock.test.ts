import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockHolder, tryLock } from '../../../src/dev/file-lock';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-lock-'));
  path = join(folder, 'lock');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('a second attempt on a held lock returns its holder', () => {
  expect(tryLock(path).held).toBe(true);
  expect(tryLock(path)).toMatchObject({ held: false, holder: { pid: process.pid } });
  expect(lockHolder(path)?.pid).toBe(process.pid);
});

test('a released lock can be taken again, and no other file is left', () => {
  const first = tryLock(path);
  if (first.held) first.release();
  expect(lockHolder(path)).toBeNull();
  expect(tryLock(path).held).toBe(true);
  expect(readdirSync(folder)).toEqual(['lock']);
});

test.each([
  ['a process that has ended', () => endedPid(), '1'],
  ['this pid at another time', () => process.pid, '1'],
])('a lock of %s is taken over', (_who, pid, started) => {
  writeFileSync(path, JSON.stringify({ pid: pid(), started }));
  expect(lockHolder(path)).toBeNull();
  expect(tryLock(path).held).toBe(true);
});

test.each(['', '{', 'null', '{"pid":"1"}'])('a lock file that holds %j is taken over', (text) => {
  writeFileSync(path, text);
  expect(tryLock(path).held).toBe(true);
});

test('a holder whose lock was taken over does not release the new one', () => {
  const first = tryLock(path);
  writeFileSync(path, JSON.stringify({ pid: process.ppid, started: 'other' }));
  const second = tryLock(path);
  expect(second.held).toBe(true);
  writeFileSync(path, '{"pid":1,"started":"somebody else"}');
  if (first.held) first.release();
  expect(readdirSync(folder)).toEqual(['lock']);
});

function endedPid(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}
