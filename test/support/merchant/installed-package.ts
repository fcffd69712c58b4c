/** A merchant's project which has the package `payments-gateway` installed, and the command in it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { waitThroughFaults } from '../wait-for';

const CLIENTS = resolve(__dirname, '../../../clients');
const PACKAGE = join(CLIENTS, 'typescript');

export interface Project {
  folder: string;
  /** The folder of commands, for the PATH of a shell. */
  commands: string;
  /** Runs the command in the folder. Without settings of its own, it has no profile. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): StartedCommand;
  stop(): Promise<void>;
}

export interface StartedCommand {
  child: ChildProcessWithoutNullStreams;
  /** All that was printed; `out` and `err` have their own. */
  output: { text: string; out: string; err: string };
  /** The exit code. */
  ended: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  whenPrinted(pattern: RegExp): Promise<RegExpExecArray>;
}

export function createProject(): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-'));
  const installed = join(folder, 'node_modules/payments-gateway');
  install(installed);
  const program = join(installed, 'dist/cli/main.js');
  const commands = join(folder, 'node_modules/.bin');
  mkdirSync(commands);
  chmodSync(program, 0o755);
  symlinkSync(program, join(commands, 'payments-gateway'));
  return Promise.resolve({
    folder,
    commands,
    start: (args, env = {}) => {
      const settings = { PATH: process.env['PATH'], XDG_CONFIG_HOME: join(folder, 'none'), ...env };
      return follow(spawn(process.execPath, [program, ...args], { cwd: folder, env: settings }));
    },
    stop: () => rm(folder, { recursive: true }),
  });
}

/** Installs `payments-gateway-mcp` in the project. @returns the path of its program */
export function installMcp({ folder }: Project): string {
  const installed = join(folder, 'node_modules/payments-gateway-mcp');
  compile(join(CLIENTS, 'mcp/src'), join(installed, 'dist/mcp/src'));
  compile(join(PACKAGE, 'src'), join(installed, 'dist/typescript/src'));
  copyFileSync(join(CLIENTS, 'mcp/package.json'), join(installed, 'package.json'));
  const packages = resolve(CLIENTS, '../node_modules');
  symlinkSync(
    join(packages, '@modelcontextprotocol'),
    join(folder, 'node_modules/@modelcontextprotocol'),
  );
  return join(installed, 'dist/mcp/src/main.js');
}

/** The output of its build; test/unit/webhooks/receiver-package.test.ts installs it with its types. */
function install(folder: string): void {
  compile(join(PACKAGE, 'src'), join(folder, 'dist'));
  copyFileSync(join(PACKAGE, 'package.json'), join(folder, 'package.json'));
}

function compile(source: string, target: string): void {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), 'utf8'), {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    });
    const output = join(target, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, outputText);
  }
}

export function follow(child: ChildProcessWithoutNullStreams): StartedCommand {
  const output = { text: '', out: '', err: '' };
  for (const [stream, name] of [
    [child.stdout, 'out'],
    [child.stderr, 'err'],
  ] as const) {
    stream.on('data', (chunk: Buffer) => {
      output.text += chunk.toString();
      output[name] += chunk.toString();
    });
  }
  // Not at its exit, when some of the output may not have arrived.
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    output,
    ended,
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return ended;
    },
    whenPrinted: (pattern) =>
      waitThroughFaults(`${pattern.source} in the output`, () => {
        const found = pattern.exec(output.text);
        // Named as the cause when the time is over.
        if (found === null) throw new Error(`it has printed: ${output.text}`);
        return Promise.resolve(found);
      }),
  };
}
