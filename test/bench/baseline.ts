/**
 * The counted figures that are committed, and the comparison with them: what an object costs may only
 * grow with a commit that says so.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Line } from './report';
import type { Row } from './row';

const FILE = join(__dirname, 'baseline.json');
const ACCEPT = 'npm run bench -- --quick --only counted --accept';

type Baseline = Record<string, number>;

/** A figure of a row that has a tolerance. */
interface Watched {
  key: string;
  value: number;
  tolerance: number;
}

/** @returns sentences about figures that have grown; empty: none has */
export function compareWithBaseline(rows: readonly Row[], lines: readonly Line[]): string[] {
  const found = watched(rows, lines);
  if (found.length === 0) return [];
  const baseline = readBaseline();
  const grown = found.flatMap(({ key, value, tolerance }) => {
    const before = baseline[key];
    if (before === undefined) return [`${key} is not in the baseline`];
    if (value <= before * (1 + tolerance)) return [];
    const allowed = tolerance === 0 ? '' : `, more than ${tolerance * 100} %`;
    return [`${key} has grown from ${before} to ${value}${allowed}`];
  });
  return grown.length === 0
    ? []
    : [...grown, `To accept the new figures, run \`${ACCEPT}\` and commit ${nameOf(FILE)}.`];
}

/** Figures that have become smaller, so that the baseline can follow. */
export function listImprovements(rows: readonly Row[], lines: readonly Line[]): string[] {
  const baseline = readBaseline();
  const better = watched(rows, lines).flatMap(({ key, value, tolerance }) => {
    const before = baseline[key];
    if (before === undefined || value >= before * (1 - tolerance)) return [];
    return [`${key} has decreased from ${before} to ${value}`];
  });
  return better.length === 0 ? [] : [...better, `To keep it that way, run \`${ACCEPT}\`.`];
}

export function writeBaseline(rows: readonly Row[], lines: readonly Line[]): void {
  const figures = watched(rows, lines).map(({ key, value }) => [key, value] as const);
  const baseline = { ...readBaseline(), ...Object.fromEntries(figures) };
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
}

function watched(rows: readonly Row[], lines: readonly Line[]): Watched[] {
  return lines.flatMap((line) => {
    const row = rows.find(({ name }) => name === line.row);
    const figure = row?.figures.find(({ name }) => name === line.figure);
    if (figure?.tolerance === undefined) return [];
    return [{ key: line.figure, value: line.gateway, tolerance: figure.tolerance }];
  });
}

function readBaseline(): Baseline {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Baseline) : {};
}

function nameOf(file: string): string {
  return relative(process.cwd(), file);
}
