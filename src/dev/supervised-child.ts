/**
 * One child process of `npm start` (api, worker, sandbox): started, restarted when it ends by
 * itself, stopped. Its output goes to its log file, and warnings and errors to the terminal too.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ROOT } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';
import { sendSignal } from './processes';
import type { LogLine } from './progress';
import { lastLines } from './server-process';

const RESTART_DELAY_MS = 1_000;
const RESTART_DELAY_MS_MAX = 30_000;
/** A child that ends by itself sooner than this counts as a failed start. */
const SETTLED_AFTER_MS = 10_000;
/** Failed starts in a row that make a crash loop; before the first success it ends `npm start`. */
const CRASH_LOOP_STARTS = 3;

const LOG_BYTES_MAX = 10_000_000;
const PINO_WARN = 40;
const PINO_ERROR = 50;
/**
 * The terminal shows at most 20 lines of a child in this time, so that one in trouble does not bury it.
 */
const ECHO_WINDOW_MS = 10_000;
const ECHO_LINES_MAX = 20;

export interface ChildSpec {
  name: string;
  /** Path of its main module, from the project's folder. */
  script: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
  print: LogLine;
  onSpawn: (pid: number) => void;
}

export class SupervisedChild {
  /** Resolves when a run reports ready; rejects when the first three do not. */
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
    // It is awaited later; until then a rejection is not unhandled.
    this.ready.catch(() => undefined);
    this.#start();
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. The child is not restarted. */
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

  /** Sends SIGKILL without waiting. */
  kill(): void {
    this.#stopping = true;
    if (this.#process?.pid !== undefined) sendSignal(this.#process.pid, 'SIGKILL');
  }

  #start(): void {
    const { name, script, env, print, onSpawn } = this.#spec;
    this.#startedAt = performance.now();
    const child = fork(join(ROOT, script), [], {
      env,
      execArgv: [],
      // The child has a process group of its own, because Ctrl-C in the terminal must reach only the
      // supervisor.
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
    // SIGKILL comes from outside and says nothing about the program.
    const failing = signal !== 'SIGKILL' && performance.now() - this.#startedAt < SETTLED_AFTER_MS;
    this.#failedStarts = failing ? this.#failedStarts + 1 : 0;
    const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`;
    if (!this.#everReady && this.#failedStarts >= CRASH_LOOP_STARTS) {
      this.#rejectReady(
        new SetupError(
          `${name} failed to start (${how}):\n${lastLines(logFile, 20)}\nThe log is ${logFile}.`,
        ),
      );
      return;
    }
    const delayMs = Math.min(
      RESTART_DELAY_MS * 2 ** Math.max(0, this.#failedStarts - 1),
      RESTART_DELAY_MS_MAX,
    );
    print(`${name} ended ${how}; restarting it in ${delayMs / 1000} s`);
    if (this.#failedStarts >= CRASH_LOOP_STARTS) {
      print(`${name} has failed ${this.#failedStarts} times in a row; see ${logFile}`);
    }
    this.#restart = setTimeout(() => {
      this.#start();
    }, delayMs);
  }
}

interface ChildLog {
  /** Reads both streams of one run of the child. */
  follow: (stdout: Readable | null, stderr: Readable | null) => void;
  /** Writes only to the file from now on. */
  quiet: () => void;
}

/** Opens the log for appending; a file over the size limit is renamed to `.old` first. */
function openChildLog(name: string, path: string, print: LogLine): ChildLog {
  if (existsSync(path) && statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.old`);
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  const echo = limitLines((text) => print(`${name} | ${text}`), path);
  let quiet = false;
  const followStream = (stream: Readable | null, isErrors: boolean): void => {
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      file.write(`${line}\n`);
      const text = quiet ? null : textForTerminal(line, isErrors);
      if (text !== null) echo(text);
    });
  };
  return {
    follow: (stdout, stderr) => {
      followStream(stdout, false);
      followStream(stderr, true);
    },
    quiet: () => (quiet = true),
  };
}

/** The part of the line that the terminal shows, or null for nothing. */
function textForTerminal(line: string, isErrors: boolean): string | null {
  const entry = parsePinoLine(line);
  if (entry === null) {
    const chatter = /\[(INFO|DEBUG|TRACE)\]/.test(line) || line.trim() === '';
    return isErrors && !chatter ? line : null;
  }
  if (entry.level < PINO_WARN) return null;
  const level = entry.level >= PINO_ERROR ? 'error' : 'warning';
  const cause = entry.err?.message === undefined ? '' : `: ${entry.err.message}`;
  return `${level}: ${entry.msg ?? ''}${cause}`;
}

interface PinoLine {
  level: number;
  msg?: string;
  err?: { message?: string };
}

function parsePinoLine(line: string): PinoLine | null {
  if (!line.startsWith('{')) return null;
  try {
    const value = JSON.parse(line) as Partial<PinoLine>;
    return typeof value.level === 'number' ? (value as PinoLine) : null;
  } catch {
    return null;
  }
}

function limitLines(print: LogLine, path: string): LogLine {
  let windowStart = 0;
  let lines = 0;
  return (line) => {
    if (performance.now() - windowStart > ECHO_WINDOW_MS) {
      windowStart = performance.now();
      lines = 0;
    }
    lines += 1;
    if (lines <= ECHO_LINES_MAX) print(line);
    if (lines === ECHO_LINES_MAX) print(`… more in ${path}`);
  };
}
