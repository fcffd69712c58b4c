/** Writes openapi.json, the types of the SDKs and the tools of the MCP server, or with --check reports whether they are up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { buildClientTypes } from '../openapi/client-types';
import { buildDocument } from '../openapi/document';
import { buildMcpTools } from '../openapi/mcp-tools';
import { buildPythonClient } from '../openapi/python-client';

const HELP = `Usage: npm run openapi [-- --check]

Writes openapi.json, the types of clients/typescript and clients/python and the tools of clients/mcp from the schemas.
With --check it writes nothing, and fails when one of them is out of date.
`;

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
    'clients/mcp/src/generated.ts': buildMcpTools(),
    'clients/python/payments_gateway/_generated.py': buildPythonClient(),
  };
  for (const [file, text] of Object.entries(files)) {
    if (!process.argv.includes('--check')) writeFileSync(join(ROOT, file), text);
    else if (readFileSync(join(ROOT, file), 'utf8') !== text) {
      process.stderr.write(`${file} is out of date: run \`npm run openapi\` and commit it.\n`);
      process.exitCode = 1;
    }
  }
}

void main();
