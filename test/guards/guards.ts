/**
 * `npm run test:guards`: removes one guard of the gateway at a time, in a copy of the project, and
 * demands that a test notices it. docs/guards.md has the list.
 */
import { Command } from '@commander-js/extra-typings';
import { errorText, wholeNumber } from '../../src/platform/lib/command-line';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { type Guard, GUARDS, projectOf } from './guard';
import { isTestOf, runTests, type TestRun } from './jest-run';
import { copyProject, type ProjectCopy } from './project-copy';
import { REMOVED } from './removed';
import { runMain } from '../support/run-main';

/** The time limits of one test without a guard, and of all tests with all guards. */
const REMOVED_MINUTES = 4;
const COMPLETE_MINUTES = 20;
/** Tests that wait for what does not come any more. */
const SHORT_PATIENCE = { TEST_PATIENCE_MS: '15000' };
/** The other projects start all servers for each run: their workers would take each other's tasks. */
const SHARES_POSTGRES = ['db', 'wallet'];
const JOBS_MAX = 9;

const program = new Command('npm run test:guards --')
  .description('Removes one guard at a time and demands that a test fails each time.')
  .option('--only <name...>', 'remove these guards only')
  .option('--project <name...>', 'remove the guards of these test projects only: unit, db, …')
  .option(
    '--jobs <n>',
    'guards that are removed at the same time, each in a copy',
    wholeNumber(1, JOBS_MAX),
    2,
  )
  .option('--list', 'print the guards and end', false)
  .addHelpText(
    'after',
    `\nThe project itself is not changed: guards are removed in a copy in a temporary folder.
A guard that is not noticed needs a test. docs/guards.md explains the list.`,
  )
  .parse();

type Verdict = 'noticed' | 'not noticed' | 'unclear';

interface Result {
  guard: Guard;
  verdict: Verdict;
  /** The test that failed, or what went wrong. */
  why: string;
}

/** A copy of the project, and the variables of the server that its tests share. */
interface Worker {
  copy: ProjectCopy;
  shared: Record<string, string>;
}

const log = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<void> {
  const { list, jobs } = program.opts();
  const chosen = choose();
  if (list) {
    chosen.forEach(({ name, protects }) => log(`${name.padEnd(32)} ${protects}`));
    return;
  }
  const startedAt = Date.now();
  const workers: Worker[] = [];
  try {
    while (workers.length < Math.min(jobs, chosen.length)) {
      workers.push({ copy: copyProject(), shared: await startPostgres(chosen) });
    }
    const [first] = workers;
    if (first !== undefined) await demandComplete(first, chosen);
    const results: Result[] = [];
    // Each worker takes the next guard of the same queue.
    const queue = chosen.values();
    await Promise.all(
      workers.map(async (worker) => {
        for (const guard of queue) {
          const began = Date.now();
          const result = await remove(worker, guard);
          results.push(result);
          const place = `${String(results.length).padStart(3)}/${chosen.length}`;
          log(`${place} ${guard.name}: ${result.verdict}, ${secondsSince(began)} s: ${result.why}`);
        }
      }),
    );
    summarize(results, startedAt);
  } finally {
    for (const { copy } of workers) copy.remove();
    await stopTestServices();
  }
}

function choose(): readonly Guard[] {
  const { only, project } = program.opts();
  const unknown = (only ?? []).filter((name) => !GUARDS.some((guard) => guard.name === name));
  if (unknown.length > 0) program.error(`Unknown guard ${unknown.join(', ')}. See --list.`);
  const chosen = GUARDS.filter(
    (guard) =>
      (only?.includes(guard.name) ?? true) && (project?.includes(projectOf(guard)) ?? true),
  );
  if (chosen.length === 0) program.error('No guard has such a test. See --list.');
  return chosen;
}

/** @returns the variables for the tests that take a server which runs already */
async function startPostgres(guards: readonly Guard[]): Promise<Record<string, string>> {
  if (!guards.some((guard) => SHARES_POSTGRES.includes(projectOf(guard)))) return {};
  await startTestServices(['postgres']);
  const url = process.env['TEST_POSTGRES_URL'] ?? '';
  delete process.env['TEST_POSTGRES_URL'];
  return { TEST_POSTGRES_URL: url };
}

function environmentOf(project: string, shared: Record<string, string>): Record<string, string> {
  return SHARES_POSTGRES.includes(project) ? shared : {};
}

/** With all guards every test passes; otherwise its failure would say nothing. */
async function demandComplete(
  { copy: { folder }, shared }: Worker,
  guards: readonly Guard[],
): Promise<void> {
  for (const project of new Set(guards.map(projectOf))) {
    const began = Date.now();
    const all = guards.filter((guard) => projectOf(guard) === project);
    const whole = new Set(all.flatMap(({ test, title }) => (title === '' ? [test] : [])));
    const partly = all.filter(({ test }) => !whole.has(test));
    const options = { env: environmentOf(project, shared), timeoutMs: COMPLETE_MINUTES * 60_000 };
    const runs = [
      ...(whole.size === 0
        ? []
        : [await runTests(folder, [...whole], { ...options, titles: null })]),
      ...(partly.length === 0
        ? []
        : [
            await runTests(folder, [...new Set(partly.map(({ test }) => test))], {
              ...options,
              titles: [...new Set(partly.map(({ title }) => title))],
            }),
          ]),
    ];
    const faults = [...faultsOf(runs), ...missingOf(all, runs)];
    if (faults.length > 0) throw new Error(`With all guards in place:\n${faults.join('\n')}`);
    log(`${project}: the tests pass with all guards, ${secondsSince(began)} s`);
  }
}

function faultsOf(runs: readonly TestRun[]): string[] {
  return runs.flatMap(({ failed, trouble }) => [
    ...(trouble === null ? [] : [trouble]),
    ...failed.map(({ file, title, message }) => `${file} “${title}” fails: ${message}`),
  ]);
}

function missingOf(guards: readonly Guard[], runs: readonly TestRun[]): string[] {
  const passed = runs.flatMap((run) => run.passed);
  return guards
    .filter((guard) => !passed.some((found) => isTestOf(guard, found)))
    .map(({ name, test, title }) => `${name}: no test “${title}” of ${test} ran`);
}

async function remove({ copy, shared }: Worker, guard: Guard): Promise<Result> {
  const run = await copy.without(guard, () =>
    runTests(copy.folder, [guard.test], {
      titles: guard.title === '' ? null : [guard.title],
      env: {
        ...environmentOf(projectOf(guard), shared),
        ...SHORT_PATIENCE,
        [REMOVED]: JSON.stringify(guard.changes),
      },
      timeoutMs: REMOVED_MINUTES * 60_000,
    }),
  );
  if (run.trouble !== null) return { guard, verdict: 'unclear', why: run.trouble };
  const failed = run.failed.filter((found) => isTestOf(guard, found));
  if (failed.length === 0) return { guard, verdict: 'not noticed', why: guard.test };
  const [asserted] = failed.filter(({ message }) => !isTimeOut(message));
  if (asserted === undefined) return { guard, verdict: 'unclear', why: 'the test timed out' };
  return { guard, verdict: 'noticed', why: `“${asserted.title}” (${asserted.message})` };
}

/** A test or a hook that timed out may have failed for another reason than the missing guard. */
function isTimeOut(message: string): boolean {
  return message.includes('Exceeded timeout of');
}

function summarize(results: readonly Result[], startedAt: number): void {
  const open = results.filter(({ verdict }) => verdict !== 'noticed');
  log('');
  for (const { guard, verdict } of results.toSorted(byPlace)) {
    log(`${guard.name.padEnd(32)} ${verdict.padEnd(12)} ${guard.test}`);
  }
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  log(
    `\n${results.length - open.length} of ${results.length} guards are noticed, ${minutes} minutes`,
  );
  for (const { guard, verdict, why } of open) {
    log(`${verdict}: ${guard.name} (${guard.changes[0]?.in}): ${guard.protects} ${why}`);
  }
  if (open.length > 0) process.exitCode = 1;
}

function byPlace(one: Result, other: Result): number {
  return GUARDS.indexOf(one.guard) - GUARDS.indexOf(other.guard);
}

function secondsSince(began: number): string {
  return ((Date.now() - began) / 1_000).toFixed(1);
}

runMain(main, errorText);
