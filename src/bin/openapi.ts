/** Writes openapi.json, or with --check reports whether it is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { buildDocument } from '../openapi/document';

const HELP = `Usage: npm run openapi [-- --check]

Writes openapi.json from the schemas. With --check it writes nothing, and fails when the file is
out of date.
`;

const PATH = join(__dirname, '../../openapi.json');

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const text = await format(JSON.stringify(buildDocument()), { parser: 'json', printWidth: 100 });
  if (!process.argv.includes('--check')) {
    writeFileSync(PATH, text);
    return;
  }
  if (readFileSync(PATH, 'utf8') === text) return;
  process.stderr.write('openapi.json is out of date: run `npm run openapi` and commit it.\n');
  process.exit(1);
}

void main();
