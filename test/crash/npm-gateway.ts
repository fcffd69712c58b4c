/**
 * `npm start` in a data folder of its own: everything of the gateway as one installation, which a
 * test may kill as a power cut does.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isSameProcess, type ProcessIdentity, sendSignal } from '../../src/dev/processes';
import { findFreePort } from '../../src/dev/ports';
import { waitThroughFaults } from '../support/wait-for';

const ROOT = resolve(__dirname, '../..');
const PORTS = ['PORT', 'SANDBOX_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'POSTGRES_PORT'];

/** The members of dev.json that tests use. */
export interface Settings {
  base_url: string;
  sandbox_url: string;
  temporal_address: string;
  postgres_url: string;
  test_key: string;
  live_key: string;
}

export class NpmGateway {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  #output = '';

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  static async create(settings: NodeJS.ProcessEnv = {}): Promise<NpmGateway> {
    const folder = mkdtempSync(join(tmpdir(), 'npm-gateway-'));
    // PostgreSQL runs as another user when we are root, and has to pass through.
    chmodSync(folder, 0o711);
    const { TEST_POSTGRES_URL, TEST_TEMPORAL_ADDRESS, ...inherited } = process.env;
    const env = { ...inherited, ...settings, GATEWAY_DATA_DIR: join(folder, 'data') };
    for (const name of PORTS) Object.assign(env, { [name]: String(await findFreePort()) });
    return new NpmGateway(folder, env);
  }

  /** Resolves when it says that it is ready. */
  async start(): Promise<Settings> {
    const child = spawn('npm', ['start'], {
      cwd: ROOT,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    await waitThroughFaults('the gateway to be ready', async () => {
      if (child.exitCode !== null) return 'ended';
      return this.#output.includes('gateway ready') ? 'ready' : undefined;
    });
    if (child.exitCode !== null) throw new Error(`npm start ended:\n${this.#output}`);
    return this.#read('dev.json') as Settings;
  }

  /**
   * SIGKILL to the supervisor and to everything that it started. PostgreSQL goes last: the stores
   * of a gateway need not agree about the last moment.
   */
  async cutPower(beforePostgres: () => Promise<void>): Promise<void> {
    const all = this.#processes();
    await killAll([this.#supervisor(), ...all.filter(({ name }) => name !== 'PostgreSQL')]);
    await beforePostgres();
    await killAll(all);
  }

  /** Stops it and removes its folder. */
  async remove(): Promise<void> {
    if (this.#child !== null && this.#child.exitCode === null) {
      const all = this.#processes();
      this.#child.kill('SIGTERM');
      await once(this.#child, 'exit');
      await whenGone(all);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Runs one of the project's scripts on this installation. @throws on another exit code than 0 */
  async script(name: string, ...args: string[]): Promise<string> {
    const command = ['run', '--silent', name, '--', ...args];
    const { stdout } = await promisify(execFile)('npm', command, { cwd: ROOT, env: this.#env });
    return stdout;
  }

  #supervisor(): ProcessIdentity {
    return this.#read('lock') as ProcessIdentity;
  }

  #processes(): (ProcessIdentity & { name: string })[] {
    const { processes } = this.#read('run.json') as {
      processes: (ProcessIdentity & { name: string })[];
    };
    return processes;
  }

  #read(file: string): unknown {
    return JSON.parse(readFileSync(join(this.#folder, 'data', file), 'utf8'));
  }
}

async function killAll(processes: ProcessIdentity[]): Promise<void> {
  for (const one of processes) if (isSameProcess(one)) sendSignal(one.pid, 'SIGKILL');
  await whenGone(processes);
}

async function whenGone(processes: ProcessIdentity[]): Promise<void> {
  await waitThroughFaults('the processes to end', async () => !processes.some(isSameProcess));
}
