/**
 * Writes the table of settings into docs/operations.md, into the chart, which gives each process the settings that it
 * reads, and into docker-compose.yml. With --check it reports whether all are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresUrl } from '../platform/settings/setting-kinds';
import {
  GATEWAY_SETTINGS,
  OWNER_SETTINGS,
  type ProgramName,
  ROWS,
  type Setting,
  WALLET_SETTINGS,
} from '../platform/settings/settings';

const HELP = `Usage: npm run settings [-- --check]

Writes the environment variables in docs/operations.md, the Helm chart and docker-compose.yml
from src/platform/settings/settings.ts. With --check it writes nothing, and fails when they are out of date.
`;

const DOCUMENT = 'docs/operations.md';
const CHART = 'deploy/helm/payments-gateway/files/settings.yaml';
const COMPOSE = 'docker-compose.yml';
const SECTIONS = { gateway: GATEWAY_SETTINGS, owner: OWNER_SETTINGS, wallet: WALLET_SETTINGS };

function main(): void {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  write(DOCUMENT, (present) =>
    Object.entries(SECTIONS).reduce(
      (text, [name, settings]) =>
        replaceSection(text, `<!-- settings: ${name} -->`, `\n${tableOf(settings)}\n`),
      present,
    ),
  );
  write(CHART, chartTable);
  write(COMPOSE, composeText);
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

/** The image sets its bundles, and in a container `api` listens on all addresses. */
const NOT_FROM_ENV = ['HOST', 'WORKFLOW_BUNDLE', 'WALLET_WORKFLOW_BUNDLE'];

/** Where docker-compose.yml takes a setting from .env: an environment that services share, or the list of secrets. */
function composeSectionOf({ kind, isSecret, programs, queues }: Setting): string | null {
  // The job "settings" makes the URLs of PostgreSQL.
  if (isSecret === true) return kind === postgresUrl ? null : 'secrets';
  if (queues !== undefined) return queues.includes('payments') ? 'providers' : 'mail';
  if (programs.includes('worker') || programs.includes('admin')) return 'gateway';
  return programs.includes('api') ? 'api' : 'wallet';
}

/** Settings that the file sets outside of the sections stay as they are there. */
function composeText(present: string): string {
  const byHand = present.replaceAll(/# settings: (\w+)\n[^]*?# end of settings: \1\n/g, '');
  const set = new Set([...byHand.matchAll(/^ +([A-Z_]+): /gm)].map(([, name]) => name));
  const rows = ROWS.filter(([name]) => !set.has(name) && !NOT_FROM_ENV.includes(name));
  return ['gateway', 'providers', 'mail', 'api', 'wallet', 'secrets'].reduce((text, section) => {
    const names = rows.filter(([, row]) => composeSectionOf(row) === section).map(([name]) => name);
    const start = `# settings: ${section}`;
    const indent = new RegExp(`^ *(?=# end of settings: ${section}$)`, 'm').exec(text)?.[0] ?? '';
    const is = section === 'secrets' ? '=' : ': ';
    const lines = names.map((name) => `${indent}${name}${is}\${${name}:-}\n`);
    return replaceSection(text, start, lines.join('') + indent);
  }, present);
}

/** Replaces what stands between the lines `start` and its end. */
function replaceSection(text: string, start: string, content: string): string {
  const end = start.replace('settings:', 'end of settings:');
  const [before, rest = ''] = text.split(`${start}\n`);
  const [, after] = rest.split(end);
  if (before === undefined || after === undefined) {
    throw new Error(`There is no section between "${start}" and "${end}".`);
  }
  return `${before}${start}\n${content}${end}${after}`;
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
