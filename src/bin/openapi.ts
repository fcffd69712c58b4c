/** Writes openapi.json, or with --check says whether it is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { buildDocument } from '../openapi/document';

const HELP = `Usage: npm run openapi [-- --check]

Writes openapi.json from the schemas. With --check nothing is written; it fails when the file is
not what the schemas say.
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
  process.stderr.write('openapi.json is stale: run `npm run openapi` and commit it.\n');
  process.exit(1);
}

void main();
