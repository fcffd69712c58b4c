/**
 * `npm start`: the whole gateway on this machine, for development. The project is compiled first, and what
 * has been compiled runs the rest.
 */
import { join, resolve } from 'node:path';
import { compileProject } from '../dev/compile';
import type * as Run from '../dev/run';

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

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const compiled = await compileProject();
  // The data folder is in the project, not in what has been compiled.
  const data = process.env['GATEWAY_DATA_DIR'] ?? '';
  process.env['GATEWAY_DATA_DIR'] = resolve(__dirname, '../..', data === '' ? '.gateway' : data);
  const { run } = (await import(join(compiled, 'src/dev/run.js'))) as typeof Run;
  await run();
}

void main();
