/**
 * `npm start`: the whole gateway on this machine, for development.
 */
import { printSummary } from '../dev/settings-file';
import { Supervisor } from '../dev/supervisor';
import { dataLayout } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';

const HELP = `Usage: npm start [-- --chain]

Starts the gateway and everything it needs: PostgreSQL, Temporal, the API, the worker and the
sandbox, which simulates the payment providers. Prints all addresses and keys; the last line is
"gateway ready". Ctrl-C stops everything in order, a second Ctrl-C stops it at once. The data is
kept in .gateway/; \`npm run reset\` removes it.

Options:
  --chain              also start a local EVM chain with test tokens, and the wallet: they serve the
                       network ethereum in test mode instead of the simulated provider

Environment:
  PORT                 the API and the dashboard (3000)
  SANDBOX_PORT         the sandbox (3001)
  TEMPORAL_PORT        the local Temporal server (7233, or a free port if it is in use)
  TEMPORAL_UI_PORT     its web UI (8233, or a free port)
  POSTGRES_PORT        the local PostgreSQL (5433, or a free port)
  CHAIN_PORT           with --chain, the local chain (8545, or a free port)
  WALLET_PORT          with --chain, the wallet (3002, or a free port)
  TEMPORAL_ADDRESS     host:port of a running Temporal cluster, instead of a local server
  DATABASE_OWNER_URL   a database on a running PostgreSQL, instead of a local server; its role
                       creates the tables and the application's role
  DATABASE_URL         the application's own login there (created by default)
  GATEWAY_DATA_DIR     the data folder (.gateway)
`;

const PARENT_CHECK_MS = 500;

/** npm repeats a Ctrl-C that the terminal has already sent: both count as one. */
const SAME_SIGNAL_MS = 500;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const startedAt = performance.now();
  // The mask keeps the data folder (keys, payloads, logs) readable by its owner only.
  process.umask(0o077);
  process.stdout.on('error', () => undefined);
  const log = (line: string): void => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
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

void main();
