/** Writes the tables of settings into docs/operations.md, or with --check reports whether they are up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GATEWAY_SETTINGS,
  OWNER_SETTINGS,
  type Setting,
  WALLET_SETTINGS,
} from '../platform/settings/settings';

const HELP = `Usage: npm run settings [-- --check]

Writes the tables of environment variables in docs/operations.md from src/platform/settings/settings.ts. With --check
it writes nothing, and fails when they are out of date.
`;

const FILE = 'docs/operations.md';
const PATH = join(__dirname, '../..', FILE);
const SECTIONS = { gateway: GATEWAY_SETTINGS, owner: OWNER_SETTINGS, wallet: WALLET_SETTINGS };

function main(): void {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const present = readFileSync(PATH, 'utf8');
  let text = present;
  for (const [name, settings] of Object.entries(SECTIONS)) {
    text = replaceSection(text, name, tableOf(settings));
  }
  if (!process.argv.includes('--check')) writeFileSync(PATH, text);
  else if (present !== text) {
    process.stderr.write(`${FILE} is out of date: run \`npm run settings\` and commit it.\n`);
    process.exitCode = 1;
  }
}

function replaceSection(text: string, name: string, table: string): string {
  const start = `<!-- settings: ${name} -->\n`;
  const end = `<!-- end of settings: ${name} -->`;
  const [before, rest = ''] = text.split(start);
  const [, after] = rest.split(end);
  if (before === undefined || after === undefined) {
    throw new Error(`${FILE} has no section between "${start.trim()}" and "${end}"`);
  }
  return `${before}${start}\n${table}\n${end}${after}`;
}

function tableOf(settings: Readonly<Record<string, Setting>>): string {
  const rows = Object.entries(settings).map(([name, row]) => [
    `\`${name}\``,
    defaultOf(row),
    row.kind?.form ?? '',
    row.programs.map((program) => `\`${program}\``).join(', '),
    row.isSecret === true ? 'yes' : '',
    row.meaning,
  ]);
  const head = ['Variable', 'Default', 'Value', 'Programs', 'Secret', 'Meaning'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

function defaultOf({ otherwise, required }: Setting): string {
  if (otherwise !== undefined) {
    return `\`${typeof otherwise === 'function' ? otherwise({}) : otherwise}\``;
  }
  if (required === undefined) return 'none';
  return typeof required === 'string' ? 'required' : `required with \`${required.with}\``;
}

main();
