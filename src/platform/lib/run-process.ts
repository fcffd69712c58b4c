/**
 * The life cycle of a long-running program: start, report that it is ready, stop on a signal, and
 * exit with a message when it cannot start.
 */
import { withSecretFiles } from '../settings/secret-files';
import { SetupError } from './setup-error';

export interface RunningProcess {
  stop(): Promise<void>;
  /** Settles when the program ends by itself, which is an error. */
  ended?: Promise<void>;
}

/** Time for an orderly end when the parent process is gone. */
const ORPHAN_END_MS = 5_000;

/**
 * @param help is printed for --help instead of starting
 * @param start gets the environment with the secrets of files
 */
export function runProcess(
  help: string,
  start: (env: NodeJS.ProcessEnv) => Promise<RunningProcess>,
): void {
  if (process.argv.includes('--help')) {
    process.stdout.write(help);
    return;
  }
  endWithParent();
  // SIGHUP ends no program, not even while it starts or stops: it asks for files to be read again.
  process.on('SIGHUP', () => undefined);
  try {
    start(withSecretFiles(process.env)).then(stopOnSignal, fail);
  } catch (error) {
    fail(error);
  }
}

/** Ends a forked process when its parent has ended, in whatever way. */
function endWithParent(): void {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORPHAN_END_MS).unref();
  });
  // The listener alone must not keep the process alive.
  process.channel?.unref();
}

function stopOnSignal(running: RunningProcess): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    running.stop().then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  running.ended?.then(() => {
    if (!stopping) fail(new Error('ended by itself'));
  }, fail);
  process.send?.('ready');
}

function fail(error: unknown): never {
  const text =
    error instanceof SetupError
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
