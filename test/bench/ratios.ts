/**
 * The ratios to the bare limits when they were last remembered, to which a run compares its own. The machine is part of
 * them, so nothing fails: a person sees what a change has cost.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Line } from './report';

const FILE = join(__dirname, 'ratios.json');

/** By the row and its figure. */
type Ratios = Record<string, { ratio: number; commit: string }>;

/** @returns a sentence for each figure that has a ratio */
export function compareRatios(lines: readonly Line[]): string[] {
  const before = readRatios();
  return ratiosOf(lines).map(([key, ratio]) => {
    const known = before[key];
    const then = known === undefined ? '' : `, and was ${known.ratio} at ${known.commit}`;
    return `${key}: ${ratio} of the bare limit${then}`;
  });
}

export function writeRatios(lines: readonly Line[]): void {
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  const now = ratiosOf(lines).map(([key, ratio]) => [key, { ratio, commit: commit.trim() }]);
  const ratios = { ...readRatios(), ...(Object.fromEntries(now) as Ratios) };
  writeFileSync(FILE, `${JSON.stringify(ratios, null, 2)}\n`);
}

function ratiosOf(lines: readonly Line[]): [key: string, ratio: number][] {
  return lines.flatMap(({ row, figure, ratio }): [string, number][] =>
    ratio === null ? [] : [[`${row} ${figure}`, Number(ratio.median.toFixed(2))]],
  );
}

function readRatios(): Ratios {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Ratios) : {};
}
