/** Writes openapi.json, the types of the SDKs and the tools of the MCP server, or with --check reports whether they are up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { ERROR_CODES, errorEntry } from '../domain/errors';
import { buildClientErrors, buildClientTypes } from '../openapi/client-types';
import { buildDocument, USED_ERRORS } from '../openapi/document';
import { buildMcpTools } from '../openapi/mcp-tools';
import { buildPythonClient } from '../openapi/python-client';

const HELP = `Usage: npm run openapi [-- --check]

Writes openapi.json, the types and errors of clients/typescript, the types of clients/python, the tools of clients/mcp
and the table of errors in docs/guides/errors.md from the schemas.
With --check it writes nothing, and fails when one of them is out of date.
`;

const ERROR_GUIDE = 'docs/guides/errors.md';
const ROOT = join(__dirname, '../..');

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const document = JSON.stringify(buildDocument());
  const typescript = { parser: 'typescript', printWidth: 100, singleQuote: true };
  const files = {
    'openapi.json': await format(document, { parser: 'json', printWidth: 100 }),
    'clients/typescript/src/generated.ts': await format(buildClientTypes(), typescript),
    'clients/typescript/src/generated-errors.ts': await format(buildClientErrors(), typescript),
    'clients/mcp/src/generated.ts': buildMcpTools(),
    'clients/python/payments_gateway/_generated.py': buildPythonClient(),
    [ERROR_GUIDE]: withErrors(readFileSync(join(ROOT, ERROR_GUIDE), 'utf8')),
  };
  for (const [file, text] of Object.entries(files)) {
    if (!process.argv.includes('--check')) writeFileSync(join(ROOT, file), text);
    else if (readFileSync(join(ROOT, file), 'utf8') !== text) {
      process.stderr.write(`${file} is out of date: run \`npm run openapi\` and commit it.\n`);
      process.exitCode = 1;
    }
  }
}

/** The guide with the table of the errors that operations answer with, by their status. */
function withErrors(guide: string): string {
  const head = '| Code | Status | Message |\n| --- | --- | --- |\n';
  const [before, after = ''] = guide.split(head);
  if (after === '') throw new Error(`${ERROR_GUIDE} has no table with the head ${head}`);
  const rows = ERROR_CODES.filter((code) => USED_ERRORS.includes(code))
    .map((code) => ({ code, ...errorEntry(code) }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status, message }) => `| \`${code}\` | ${status} | ${message} |\n`);
  return `${before}${head}${rows.join('')}${after.replace(/^(\|.*\n)*/, '')}`;
}

void main();
