/**
 * One child process of `npm start` (api, worker, sandbox): started, started again when it ends
 * by itself, stopped.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { tailOf } from '../lib/file-tail';
import type { LogLine } from '../lib/log-line';
import { sendSignal } from '../lib/processes';
import { type ChildLog, openChildLog } from './child-log';
import { SetupError } from '../lib/setup-error';

const RESTART_DELAY_MS = 1_000;
const RESTART_DELAY_MS_MAX = 30_000;
/** A child that ends by itself sooner than this after its start is failing, not unlucky. */
const SETTLED_AFTER_MS = 10_000;
/** So many failing starts in a row are a crash loop, and before the first success a reason to stop. */
const CRASH_LOOP_STARTS = 3;

export interface ChildSpec {
  name: string;
  /** Path of its main module, from the project's folder. */
  script: string;
  root: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
  print: LogLine;
  onSpawn: (pid: number) => void;
}

export class SupervisedChild {
  /** Settles with the first run that reports ready, or rejects when none of three does. */
  readonly ready: Promise<void>;
  readonly #spec: ChildSpec;
  readonly #log: ChildLog;
  #process: ChildProcess | null = null;
  #restart: NodeJS.Timeout | undefined;
  #stopping = false;
  #everReady = false;
  #failedStarts = 0;
  #startedAt = 0;
  #resolveReady: () => void = () => undefined;
  #rejectReady: (error: Error) => void = () => undefined;

  constructor(spec: ChildSpec) {
    this.#spec = spec;
    this.#log = openChildLog(spec.name, spec.logFile, spec.print);
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    // Somebody awaits it later; a rejection before that is not an accident.
    this.ready.catch(() => undefined);
    this.#start();
  }

  /** Asks it to end, and ends it after the grace. It is not started again. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#log.quiet();
    clearTimeout(this.#restart);
    const child = this.#process;
    if (child?.pid === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await ended;
    clearTimeout(killer);
  }

  /** Ends it without a word. */
  kill(): void {
    this.#stopping = true;
    if (this.#process?.pid !== undefined) sendSignal(this.#process.pid, 'SIGKILL');
  }

  #start(): void {
    const { name, script, root, env, print, onSpawn } = this.#spec;
    this.#startedAt = Date.now();
    const child = fork(join(root, script), [], {
      cwd: root,
      env,
      execArgv: ['--import', 'tsx'],
      // A process group of its own: Ctrl-C in the terminal must reach only the supervisor.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#process = child;
    if (child.pid !== undefined) onSpawn(child.pid);
    this.#log.follow(child.stdout, child.stderr);
    child.on('message', (message) => {
      if (message === 'ready') this.#becameReady();
    });
    child.on('error', (error) => {
      print(`${name} | ${error.message}`);
    });
    child.on('exit', (code, signal) => {
      this.#ended(code, signal);
    });
  }

  #becameReady(): void {
    if (this.#everReady) this.#spec.print(`${this.#spec.name} is ready again`);
    this.#everReady = true;
    this.#resolveReady();
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#process = null;
    if (this.#stopping) return;
    const { name, print, logFile } = this.#spec;
    // Whoever sends SIGKILL tests that it heals; such an end says nothing about the program.
    const failing = signal !== 'SIGKILL' && Date.now() - this.#startedAt < SETTLED_AFTER_MS;
    this.#failedStarts = failing ? this.#failedStarts + 1 : 0;
    const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`;
    if (!this.#everReady && this.#failedStarts >= CRASH_LOOP_STARTS) {
      this.#rejectReady(
        new SetupError(`${name} does not start (${how}):\n${tailOf(logFile, 20)}\nSee ${logFile}.`),
      );
      return;
    }
    const delayMs = Math.min(
      RESTART_DELAY_MS * 2 ** Math.max(0, this.#failedStarts - 1),
      RESTART_DELAY_MS_MAX,
    );
    print(`${name} ended ${how}; starting it again in ${delayMs / 1000} s`);
    if (this.#failedStarts >= CRASH_LOOP_STARTS) {
      print(`${name} has failed ${this.#failedStarts} times in a row; the reason is in ${logFile}`);
    }
    this.#restart = setTimeout(() => {
      this.#start();
    }, delayMs);
  }
}
