/** One of the gateway's programs as a real process, which tests may kill and start again. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../wait-for';

const ROOT = join(__dirname, '../../..');
/** Below the time limit of a test, so that what did not start is named. */
const START_TIMEOUT_MS = 200_000;

export class ChildProgram {
  readonly #script: string;
  readonly #loader: string[];
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  #output = '';

  /** @param name of src/bin */
  constructor(name: string, env: NodeJS.ProcessEnv) {
    const compiled = process.env['TEST_COMPILED_PROGRAMS'];
    this.#script = join(
      compiled ?? ROOT,
      'src/bin',
      `${name}${compiled === undefined ? '.ts' : '.js'}`,
    );
    this.#loader = compiled === undefined ? ['--import', 'tsx'] : [];
    const workerUrl = env['TEST_WORKER_DATABASE_URL'];
    this.#env =
      name === 'worker' && workerUrl !== undefined ? { ...env, DATABASE_URL: workerUrl } : env;
  }

  /** Starts it and resolves when it says that it is ready. */
  async start(): Promise<void> {
    const folder = process.env['TEST_PROGRAM_OUTPUT'];
    const output = folder === undefined ? 'pipe' : openSync(join(folder, 'programs.log'), 'a');
    const child = fork(this.#script, [], {
      cwd: ROOT,
      env: this.#env,
      execArgv: this.#loader,
      stdio: ['ignore', output, output, 'ipc'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-20_000);
      });
    }
    const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
    const first = await Promise.race([
      once(child, 'message', { signal: timeout }).then(() => 'ready'),
      once(child, 'exit', { signal: timeout }).then(() => 'exit'),
    ]).catch(async (cause: unknown) => {
      // Nobody else would end it: the next start has another child.
      await this.kill();
      const what = `${this.#script} is not ready after ${START_TIMEOUT_MS} ms`;
      throw new Error(`${what}:\n${this.#output}`, { cause });
    });
    if (first !== 'exit') return;
    if (this.#child === child) this.#child = null;
    throw new Error(`${this.#script} did not start:\n${this.#output}`);
  }

  /** SIGKILL: what a power cut does to it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Freezes it, as a machine that swaps or a long pause does; `SIGCONT` ends that. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Null while it does not run. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Nobody killed or stopped it. */
  get endedByItself(): boolean {
    const child = this.#child;
    return child !== null && (child.exitCode !== null || child.signalCode !== null);
  }

  /** The last of what it wrote. */
  get output(): string {
    return this.#output;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

/** The URL of /metrics of a program with METRICS_PORT=0: its log tells the port after the start. */
export function metricsUrlOf(program: ChildProgram): Promise<string> {
  return waitFor('the port of /metrics', () => {
    const line = program.output.split('\n').find((one) => one.includes('"metrics listening"'));
    if (line === undefined) return undefined;
    return `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/metrics`;
  });
}
