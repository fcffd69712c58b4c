/** Runs tests of a project copy with jest, and reads what became of each. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Guard, projectOf } from './guard';

export interface TestRun {
  passed: { file: string; title: string }[];
  failed: { file: string; title: string; message: string }[];
  /** Why the tests could not be run, or not to their end; null: they were. */
  trouble: string | null;
}

export interface RunOptions {
  /** Only the tests of these titles; null: whole files. */
  titles: readonly string[] | null;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
}

/** A test that fails because it waits in vain does not have to wait for long. */
const TEST_TIMEOUT_MS = 60_000;
const OUTPUT_KEPT = 20_000;

interface JestResults {
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** Whether the title of a test, with those of the blocks around it, is the one of the guard. */
export function isTestOf({ test, title }: Guard, found: { file: string; title: string }): boolean {
  return found.file === test && found.title.includes(title);
}

export async function runTests(
  folder: string,
  files: readonly string[],
  { titles, env, timeoutMs }: RunOptions,
): Promise<TestRun> {
  const results = join(folder, 'guard-results.json');
  rmSync(results, { force: true });
  const projects = [...new Set(files.map((test) => projectOf({ test })))];
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/jest/bin/jest.js'),
      ...['--config', 'jest.config.js', '--json', '--outputFile', results, '--silent', '--ci'],
      ...['--forceExit', '--testTimeout', String(TEST_TIMEOUT_MS)],
      ...(titles === null ? [] : ['--testNamePattern', titles.map(escaped).join('|')]),
      ...['--selectProjects', ...projects, '--runTestsByPath', ...files],
    ],
    { cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT);
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await once(child, 'exit');
  clearTimeout(timer);
  if (child.signalCode !== null) return withTrouble('the tests did not end in time');
  if (!existsSync(results)) return withTrouble(`jest had no results:\n${output}`);
  return readResults(folder, JSON.parse(readFileSync(results, 'utf8')) as JestResults);
}

function readResults(folder: string, { testResults }: JestResults): TestRun {
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((one) => ({ ...one, file: relative(folder, name) })),
  );
  const broken = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  return {
    passed: all
      .filter(({ status }) => status === 'passed')
      .map(({ file, fullName }) => ({ file, title: fullName })),
    failed: all
      .filter(({ status }) => status === 'failed')
      .map(({ file, fullName, failureMessages }) => ({
        ...{ file, title: fullName },
        message: firstLines(failureMessages[0] ?? ''),
      })),
    trouble:
      broken === undefined ? null : `a file could not be loaded: ${firstLines(broken.message)}`,
  };
}

function withTrouble(trouble: string): TestRun {
  return { passed: [], failed: [], trouble };
}

/** What was expected and what came. */
function firstLines(message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('at '));
  return lines.slice(0, 4).join(' ').slice(0, 160);
}

function escaped(title: string): string {
  return title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
