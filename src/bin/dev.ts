/**
 * `npm start`: the whole gateway on this machine, for development.
 */
import { printSummary } from '../dev/settings-file';
import { Supervisor } from '../dev/supervisor';
import { dataLayout } from '../lib/data-folder';
import { SetupError } from '../lib/setup-error';

const HELP = `Usage: npm start

Starts the gateway with all it needs: PostgreSQL, Temporal, the API, the worker and the sandbox
that plays the payment providers. Prints where everything is; its last line is "gateway ready".
Ctrl-C stops everything in order, a second Ctrl-C at once. The data is kept in .gateway/;
\`npm run reset\` removes it.

Environment:
  PORT                 the API and the dashboard (3000)
  SANDBOX_PORT         the sandbox (3001)
  TEMPORAL_PORT        the local Temporal server (7233, or a free one when that is taken)
  TEMPORAL_UI_PORT     its web pages (8233, or a free one)
  POSTGRES_PORT        the local PostgreSQL (5433, or a free one)
  TEMPORAL_ADDRESS     host:port of a running Temporal cluster, instead of a local server
  DATABASE_OWNER_URL   a running PostgreSQL's database, instead of a local server; its role makes
                       the tables and the application's role
  DATABASE_URL         the application's own login there (by default one is made)
  GATEWAY_DATA_DIR     the data folder (.gateway)
`;

const PARENT_CHECK_MS = 500;

/** npm passes a Ctrl-C on that the terminal has sent us already: that is one, not two. */
const SAME_SIGNAL_MS = 500;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const startedAt = Date.now();
  // Everything below the data folder is its owner's alone: keys, payloads, logs.
  process.umask(0o077);
  process.stdout.on('error', () => undefined);
  const log = (line: string): void => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`[${seconds.padStart(5)} s] ${line}\n`);
  };
  const layout = dataLayout(process.env);
  const supervisor = new Supervisor(process.env, layout, log);
  stopOnSignals(supervisor, log);
  try {
    const settings = await supervisor.start();
    printSummary(settings, layout);
    process.stdout.write('gateway ready\n');
  } catch (error) {
    // Stopped while starting: what breaks then is no news, and the signal's handler ends us.
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
      firstAt = Date.now();
      log(`${reason}: stopping (once more kills)`);
      void supervisor.stop().finally(() => {
        log('stopped');
        process.exit(0);
      });
    } else if (Date.now() - firstAt > SAME_SIGNAL_MS) {
      supervisor.killAll();
      process.exit(130);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // Who kills npm means us too, and npm cannot pass every signal on.
  const npm = process.env['npm_lifecycle_event'] === 'start' ? process.ppid : null;
  const watch = setInterval(() => {
    if (npm === null || process.ppid === npm) return;
    clearInterval(watch);
    onSignal('npm is gone');
  }, PARENT_CHECK_MS);
  watch.unref();
}

/** A sentence for what can be put right at the terminal; the stack too for what is a fault. */
function describe(error: unknown): string {
  if (error instanceof SetupError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

void main();
