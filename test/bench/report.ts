/** The figures of a run: medians, ratios and their spread, the aims, and the machine. */
import { execFileSync } from 'node:child_process';
import { openSync, closeSync, writeSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { withClient } from '../../src/db/provision';
import { percentile } from './load';
import type { Aim, Figure, Measured, Row } from './row';

export interface Line {
  row: string;
  figure: string;
  gateway: number;
  bare: number | null;
  /** The figures of the rounds. */
  ratio: { median: number; min: number; max: number } | null;
  aim: string;
  /** Null: there is no aim. */
  met: boolean | null;
  rounds: { gateway: number[]; bare: number[] };
}

export interface Round {
  gateway: Measured;
  bare: Measured | null;
}

export function linesOf(row: Row, rounds: readonly Round[]): Line[] {
  return row.figures.map((figure) => lineOf(row, figure, rounds));
}

function lineOf(row: Row, figure: Figure, rounds: readonly Round[]): Line {
  const of = (measured: Measured | null) => measured?.[figure.name] ?? [];
  const gateway = rounds.flatMap((round) => of(round.gateway));
  if (gateway.length < rounds.length) throw new Error(`${row.name} did not measure ${figure.name}`);
  // The bare limit may have fewer figures.
  const bare = rounds.flatMap((round) => of(round.bare));
  const ratios = bare.map((value, n) => (gateway[n] ?? NaN) / value);
  const ratio =
    ratios.length === 0 || !ratios.every(Number.isFinite)
      ? null
      : { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
  const checks = [
    ...(figure.ratio === undefined
      ? []
      : [{ aim: figure.ratio, of: ratio?.median ?? NaN, x: ' ×' }]),
    ...(figure.limit === undefined ? [] : [{ aim: figure.limit, of: median(gateway), x: '' }]),
  ];
  return {
    row: row.name,
    figure: figure.name,
    gateway: median(gateway),
    bare: bare.length === 0 ? null : median(bare),
    ratio,
    aim: checks.map(({ aim, x }) => describeAim(aim) + x).join(', '),
    met: checks.length === 0 ? null : checks.every(({ aim, of }) => isMet(aim, of)),
    rounds: { gateway, bare },
  };
}

function median(values: readonly number[]): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

function describeAim(aim: Aim): string {
  return 'atLeast' in aim ? `≥ ${aim.atLeast}` : `≤ ${aim.atMost}`;
}

function isMet(aim: Aim, value: number): boolean {
  return 'atLeast' in aim ? value >= aim.atLeast : value <= aim.atMost;
}

/** Writes a table in Markdown. @param other what the gateway is compared with */
export function tableOf(lines: readonly Line[], other = 'Bare limit'): string {
  const heads = ['Row', 'Figure', 'Gateway', other, 'Ratio (min–max)', 'Aim', 'Met'];
  const cells = lines.map(({ row, figure, gateway, bare, ratio, aim, met }) => [
    row,
    figure,
    short(gateway),
    bare === null ? '' : short(bare),
    ratio === null
      ? ''
      : `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
    aim,
    met === null ? '' : met ? 'yes' : 'no',
  ]);
  const widths = heads.map((head, n) =>
    Math.max(head.length, ...cells.map((line) => line[n]?.length ?? 0)),
  );
  const print = (line: readonly string[]) =>
    `| ${line.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  return [heads, rule, ...cells].map(print).join('\n');
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

export interface Machine {
  cores: number;
  processor: string;
  memoryGib: number;
  node: string;
  postgres: string;
  temporal: string | null;
  /** 100,000,000 additions in a loop. */
  additionsMs: number;
  /** 100,000 writes of one byte to /dev/null. */
  writesMs: number;
}

export async function describeMachine(postgresUrl: string, hasTemporal: boolean): Promise<Machine> {
  const postgres = await withClient(postgresUrl, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? '';
  });
  const cli = process.env['TEST_TEMPORAL_CLI'] ?? '';
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model ?? '',
    memoryGib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres,
    temporal: hasTemporal ? execFileSync(cli, ['--version'], { encoding: 'utf8' }).trim() : null,
    additionsMs: Math.round(timeOf(add)),
    writesMs: Math.round(timeOf(write)),
  };
}

function timeOf(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function add(): number {
  let sum = 0;
  for (let n = 0; n < 100_000_000; n++) sum += n;
  return sum;
}

function write(): void {
  const file = openSync('/dev/null', 'w');
  for (let n = 0; n < 100_000; n++) writeSync(file, 'x');
  closeSync(file);
}
