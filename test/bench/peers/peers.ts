/**
 * `npm run bench:peers`: the gateway against programs of other authors, as they are shipped. Both run on
 * the same PostgreSQL server and are measured in turns, as `npm run bench` does with the bare limits.
 * docs/performance.md says how the peers are installed, and what the figures compare.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { findOnPath, isExecutable } from '../../../src/dev/processes';
import { startTestServices, stopTestServices } from '../../support/servers/start-services';
import { measureRow } from '../measure';
import { describeMachine, type Line, tableOf } from '../report';
import type { Setting } from '../row';
import { LNBITS } from './lnbits';
import type { Peer } from './peer';
import { type Installed, rowsOf } from './rows';
import { runMain } from '../../support/run-main';

const PEERS: readonly Peer[] = [LNBITS];

const program = new Command('npm run bench:peers --')
  .description('Compares the gateway with other programs and prints a table.')
  .option('--quick', 'fewer and shorter rounds', false)
  .option('--only <peer...>', 'compare with these peers only')
  .addHelpText(
    'after',
    `\nPeers, the variables with the paths of their programs, and the programs on PATH without them:
${PEERS.map((peer) => `  ${peer.name.padEnd(12)} ${peer.variable.padEnd(16)} ${peer.program}`).join('\n')}

A peer whose program is not found is left out. docs/performance.md has the commands that install them.`,
  )
  .parse();

async function main(): Promise<void> {
  const { quick, only } = program.opts();
  const unknown = (only ?? []).filter((name) => !PEERS.some((peer) => isNamed(peer, name)));
  if (unknown.length > 0) program.error(`Unknown peer ${unknown.join(', ')}. See --help.`);
  const chosen = PEERS.filter((peer) => only?.some((name) => isNamed(peer, name)) ?? true);
  const installed = chosen.flatMap(findPeer);
  if (installed.length === 0) program.error('No peer was found. See --help.');
  const setting: Setting = {
    isQuick: quick,
    log: (line) => process.stderr.write(`${line}\n`),
  };
  const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-bench-'));
  process.env['TEST_PROGRAM_OUTPUT'] = folder;
  await startTestServices(['durable-postgres', 'temporal']);
  try {
    const machine = await describeMachine(process.env['TEST_POSTGRES_URL'] ?? '', true);
    setting.log(JSON.stringify(machine));
    const lines: Line[] = [];
    const rows = installed.flatMap((one) => rowsOf(one, folder));
    for (const row of rows) lines.push(...(await measureRow(row, setting)));
    process.stdout.write(`${tableOf(lines, 'Peer')}\n`);
  } finally {
    await stopTestServices();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Empty when it is not installed. */
function findPeer(peer: Peer): Installed[] {
  const given = process.env[peer.variable];
  const path = given ?? findOnPath(peer.program);
  if (path !== null && isExecutable(path)) return [{ peer, program: path }];
  const place =
    given === undefined ? `"${peer.program}" is not on PATH` : `"${given}" is no program`;
  const remedy = `Install it (docs/performance.md, "Peers") or set ${peer.variable} to its path.`;
  process.stderr.write(`SKIPPED: ${peer.name} ${peer.version}: ${place}. ${remedy}\n`);
  return [];
}

function isNamed({ name }: Peer, text: string): boolean {
  return name.toLowerCase() === text.toLowerCase();
}

// The processes of a peer end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

runMain(main);
