/**
 * Writes the table of settings into docs/operations.md and into the chart, which gives each process the settings
 * that it reads. With --check it reports whether both are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GATEWAY_SETTINGS,
  OWNER_SETTINGS,
  type ProgramName,
  ROWS,
  type Setting,
  WALLET_SETTINGS,
} from '../platform/settings/settings';

const HELP = `Usage: npm run settings [-- --check]

Writes the tables of environment variables in docs/operations.md and the Helm chart from
src/platform/settings/settings.ts. With --check it writes nothing, and fails when they are out of date.
`;

const DOCUMENT = 'docs/operations.md';
const CHART = 'deploy/helm/payments-gateway/files/settings.yaml';
const SECTIONS = { gateway: GATEWAY_SETTINGS, owner: OWNER_SETTINGS, wallet: WALLET_SETTINGS };

function main(): void {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  write(DOCUMENT, (present) =>
    Object.entries(SECTIONS).reduce(
      (text, [name, settings]) => replaceSection(text, name, tableOf(settings)),
      present,
    ),
  );
  write(CHART, chartTable);
}

function write(file: string, textOf: (present: string) => string): void {
  const path = join(__dirname, '../..', file);
  const present = readFileSync(path, 'utf8');
  const text = textOf(present);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (present !== text) {
    process.stderr.write(`${file} is out of date: run \`npm run settings\` and commit it.\n`);
    process.exitCode = 1;
  }
}

function chartTable(): string {
  const rows = ROWS.map(([name, { programs, queues, required }]) => {
    const parts = [
      `programs: [${programs.join(', ')}]`,
      ...(queues === undefined ? [] : [`queues: [${queues.join(', ')}]`]),
      ...(required === 'always' ? ['required: true'] : []),
      ...(typeof required === 'object' ? [`requiredWith: ${required.with}`] : []),
    ];
    return `${name}: { ${parts.join(', ')} }\n`;
  });
  return `# Written by \`npm run settings\`: which programs, and of the workers those with which queues, read a setting.\n${rows.join('')}`;
}

function replaceSection(text: string, name: string, table: string): string {
  const start = `<!-- settings: ${name} -->\n`;
  const end = `<!-- end of settings: ${name} -->`;
  const [before, rest = ''] = text.split(start);
  const [, after] = rest.split(end);
  if (before === undefined || after === undefined) {
    throw new Error(`${DOCUMENT} has no section between "${start.trim()}" and "${end}"`);
  }
  return `${before}${start}\n${table}\n${end}${after}`;
}

function tableOf(settings: Readonly<Record<string, Setting>>): string {
  const rows = Object.entries(settings).map(([name, row]) => [
    `\`${name}\``,
    defaultOf(row),
    row.kind?.form ?? '',
    row.programs.map((program) => programOf(program, row)).join(', '),
    row.isSecret === true ? 'yes' : '',
    row.meaning,
  ]);
  const head = ['Variable', 'Default', 'Value', 'Programs', 'Secret', 'Meaning'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

function programOf(program: ProgramName, { queues }: Setting): string {
  const isSome = program === 'worker' && queues !== undefined;
  return `\`${program}\`${isSome ? ` of ${queues.join(', ')}` : ''}`;
}

function defaultOf({ otherwise, required }: Setting): string {
  if (otherwise !== undefined) {
    return `\`${typeof otherwise === 'function' ? otherwise({}) : otherwise}\``;
  }
  if (required === undefined) return 'none';
  return typeof required === 'string' ? 'required' : `required with \`${required.with}\``;
}

main();
