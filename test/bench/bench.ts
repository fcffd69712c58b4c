/**
 * `npm run bench`: the gateway against its bare limits. A bare limit is the least program that does the
 * same job on the same servers. Both are measured in turns, so that what else the machine does affects
 * both; the ratios count, not the figures. docs/performance.md explains the rows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { compareWithBaseline, listImprovements, writeBaseline } from './baseline';
import { measureRow } from './measure';
import { measureOverload } from './overload';
import { compareRatios, writeRatios } from './ratios';
import { describeMachine, type Line, tableOf } from './report';
import type { Row, Setting } from './row';
import { ROWS } from './rows/index';
import { measureScale } from './scale';
import { runMain } from '../support/run-main';

const program = new Command('npm run bench --')
  .description('Compares the gateway with its bare limits and prints a table.')
  .option('--quick', 'fewer and shorter rounds, smaller volumes', false)
  .option('--json', 'print JSON to standard output, and the table to standard error', false)
  .option('--only <name...>', 'measure these rows only')
  .option('--scale', 'measure with one and two worker and API processes instead', false)
  .option('--overload', 'measure below and above the capacity instead', false)
  .option('--remember', 'write the ratios to ratios.json, with the present commit', false)
  .option('--accept', 'write the counted figures to baseline.json', false)
  .addHelpText(
    'after',
    `\nRows:\n${ROWS.map((row) => `  ${row.name.padEnd(20)} ${row.description}`).join('\n')}`,
  )
  .parse();

async function main(): Promise<void> {
  const { quick, json, only, accept, remember, scale, overload } = program.opts();
  const unknown = (only ?? []).filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0) program.error(`Unknown row ${unknown.join(', ')}. See --help.`);
  const chosen = ROWS.filter((row) => only?.includes(row.name) ?? true);
  const other = scale ? measureScale : overload ? measureOverload : null;
  const hasTemporal = other !== null || chosen.some((row) => row.needsTemporal);
  const setting: Setting = {
    isQuick: quick,
    log: (line) => process.stderr.write(`${line}\n`),
  };
  // The programs write their logs to files: reading them here would cost time of the load's process.
  const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-bench-'));
  process.env['TEST_PROGRAM_OUTPUT'] = folder;
  setting.log('starting the servers');
  await startTestServices(['durable-postgres', hasTemporal ? 'temporal' : 'programs']);
  try {
    const machine = await describeMachine(process.env['TEST_POSTGRES_URL'] ?? '', hasTemporal);
    setting.log(JSON.stringify(machine));
    if (other !== null) {
      process.stdout.write(`${await other(setting)}\n`);
      return;
    }
    const lines: Line[] = [];
    for (const row of chosen) lines.push(...(await measureRow(row, setting)));
    const table = `${tableOf(lines)}\n`;
    if (json) process.stderr.write(table);
    const result = { at: new Date().toISOString(), isQuick: quick, machine, lines };
    process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : table);
    for (const sentence of compareRatios(lines)) setting.log(sentence);
    if (remember) writeRatios(lines);
    if (accept) writeBaseline(chosen, lines);
    else reportGrowth(chosen, lines);
  } finally {
    await stopTestServices();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Counted figures that have grown fail the run. */
function reportGrowth(rows: readonly Row[], lines: readonly Line[]): void {
  const grown = compareWithBaseline(rows, lines);
  for (const sentence of [...listImprovements(rows, lines), ...grown]) {
    process.stderr.write(`${sentence}\n`);
  }
  if (grown.length > 0) process.exitCode = 1;
}

runMain(main);
