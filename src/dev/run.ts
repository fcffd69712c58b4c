/** `npm start`, from its first line to its last, and how it stops. */
import { dataLayout } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';
import { printSummary } from './settings-file';
import { Supervisor } from './supervisor';

const PARENT_CHECK_MS = 500;

/** npm repeats a Ctrl-C that the terminal has already sent: both count as one. */
const SAME_SIGNAL_MS = 500;

export async function run(): Promise<void> {
  // The mask keeps the data folder (keys, payloads, logs) readable by its owner only.
  process.umask(0o077);
  process.stdout.on('error', () => undefined);
  const log = (line: string): void => {
    const seconds = (performance.now() / 1000).toFixed(1);
    process.stdout.write(`[${seconds.padStart(5)} s] ${line}\n`);
  };
  const layout = dataLayout(process.env);
  const supervisor = new Supervisor(process.env, layout, log, process.argv.includes('--chain'));
  stopOnSignals(supervisor, log);
  try {
    const settings = await supervisor.start();
    printSummary(settings, layout);
    process.stdout.write('gateway ready\n');
  } catch (error) {
    // When the start is stopped, errors are expected and the signal's handler ends the process.
    if (supervisor.stopping) return;
    process.stderr.write(`\n${describe(error)}\n`);
    await supervisor.stop();
    process.exit(1);
  }
}

function stopOnSignals(supervisor: Supervisor, log: (line: string) => void): void {
  let firstAt: number | null = null;
  const onSignal = (reason: string): void => {
    if (firstAt === null) {
      firstAt = performance.now();
      log(`${reason}: stopping (repeat to kill)`);
      void supervisor.stop().finally(() => {
        log('stopped');
        process.exit(0);
      });
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
      supervisor.killAll();
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // The process stops when npm is killed, because npm cannot forward every signal.
  const npm = process.env['npm_lifecycle_event'] === 'start' ? process.ppid : null;
  const watch = setInterval(() => {
    if (npm === null || process.ppid === npm) return;
    clearInterval(watch);
    onSignal('npm has ended');
  }, PARENT_CHECK_MS);
  watch.unref();
}

/** Describes what the user can fix by its message alone, and a defect by its stack. */
function describe(error: unknown): string {
  if (error instanceof SetupError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
