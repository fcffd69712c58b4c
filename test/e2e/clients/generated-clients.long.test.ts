/**
 * Clients that generators write from openapi.json make a payout, list by two statuses, read an event and a refusal: openapi-typescript
 * each day, and ogen (Go) and openapi-generator (Python) at the long scale, because they take minutes.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from '../../../src/dev/processes';
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import { describeWithProgram } from '../../support/optional-program';
import { openMerchant } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';

const ROOT = resolve(__dirname, '../../..');
const DOCUMENT = join(ROOT, 'openapi.json');
const FIXTURES = join(ROOT, 'test/fixtures/generated-clients');
const OGEN = 'github.com/ogen-go/ogen@v1.24.0';

const gateway = started(useSharedGateway);
let folder: string;

beforeAll(() => {
  // Within the project, so that Node.js finds openapi-fetch.
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
  folder = mkdtempSync(join(ROOT, 'node_modules/.cache/generated-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const run = (program: string, args: string[], env: NodeJS.ProcessEnv = {}, cwd = folder) =>
  promisify(execFile)(program, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 });

/** Runs the program twice over, as its fixture says. */
async function pays(program: string, args: string[], cwd = folder): Promise<void> {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } });
  const { stdout } = await run(program, args, environmentOf(client), cwd);
  const { id, listed, event, refused } = JSON.parse(stdout) as Record<string, unknown>;
  expect(id).toMatch(/^po_/);
  expect(listed).toEqual([id]);
  expect([event, refused]).toEqual([id, 'duplicate_reference']);
}

function environmentOf({ baseUrl, apiKey }: MerchantClient): NodeJS.ProcessEnv {
  return {
    GATEWAY_BASE_URL: baseUrl,
    GATEWAY_API_KEY: apiKey,
    GATEWAY_PAYOUT: JSON.stringify(buildPayout()),
  };
}

const PAY = `import createClient from 'openapi-fetch';
import type { components, paths } from './gateway.js';
const { GATEWAY_BASE_URL: baseUrl, GATEWAY_API_KEY: key, GATEWAY_PAYOUT: payout } = process.env;
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { authorization: \`Bearer \${key}\` } });
const body: components['schemas']['PayoutRequest'] = JSON.parse(payout!);
const pay = (idempotencyKey: string) =>
  client.POST('/payouts', { params: { header: { 'Idempotency-Key': idempotencyKey } }, body });
const created = await pay('ts-1');
const status = ['requested', 'approved', 'processing', 'completed'] as const;
const { data: list } = await client.GET('/payouts', { params: { query: { status: [...status] } } });
const { data: events } = await client.GET('/events');
const refused = await pay('ts-2');
const code: string | undefined = refused.error?.error.code;
console.log(JSON.stringify({
  id: (created.data!.data as components['schemas']['Payout']).id,
  listed: list!.data.map(({ id }) => id),
  event: events!.data.at(-1)!.data['id'],
  refused: code,
}));
`;

test('openapi-typescript and openapi-fetch', async () => {
  const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);
  await run(bin('openapi-typescript'), [DOCUMENT, '-o', 'gateway.d.ts']);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'pay.ts'), PAY);
  const strict = ['--strict', '--skipLibCheck', '--module', 'node20', '--target', 'es2022'];
  await run(bin('tsc'), ['--ignoreConfig', ...strict, '--types', 'node', 'pay.ts']);
  await pays('node', ['pay.js']);
});

if (scaled(false, true)) {
  describeWithProgram(findOnPath('go'), 'Install Go.', 'ogen for Go', () => {
    test('every operation is generated, and a payout is made', async () => {
      writeFileSync(join(folder, 'go.mod'), 'module client\n\ngo 1.24\n');
      copyFileSync(join(FIXTURES, 'pay.go'), join(folder, 'pay.go'));
      // Without a word about operations to skip it fails when it cannot write one.
      const target = ['--target', 'gateway', '--package', 'gateway', '--clean', DOCUMENT];
      await run('go', ['run', OGEN.replace('@', '/cmd/ogen@'), ...target]);
      await run('go', ['get', OGEN]);
      await run('go', ['mod', 'tidy']);
      await run('go', ['build', '-o', 'pay', '.']);
      await pays('./pay', []);
    });
  });

  describeWithProgram(
    ['java', 'mvn', 'python3'].map(findOnPath).includes(null) ? null : 'java',
    'Install a JDK, Maven and Python.',
    'openapi-generator for Python',
    () => {
      test('imports, and makes a payout', async () => {
        const place = mkdtempSync(join(tmpdir(), 'openapi-generator-'));
        try {
          const pom = join(ROOT, 'test/fixtures/java-client/pom.xml');
          const jars = [
            '-q',
            '-f',
            pom,
            'dependency:copy-dependencies',
            `-DoutputDirectory=${place}`,
          ];
          await run('mvn', jars);
          const jar = readdirSync(place).find((name) => name.includes('openapi-generator-cli'))!;
          const options = ['generate', '-g', 'python', '-i', DOCUMENT, '-p', 'packageName=gateway'];
          await run('java', ['-jar', join(place, jar), ...options, '-o', 'python']);
          await run('python3', ['-m', 'venv', 'venv']);
          const python = join(folder, 'venv/bin/python');
          await run(python, ['-m', 'pip', 'install', '-q', '-r', 'python/requirements.txt']);
          copyFileSync(join(FIXTURES, 'pay.py'), join(folder, 'python/pay.py'));
          await pays(python, ['pay.py'], join(folder, 'python'));
        } finally {
          rmSync(place, { recursive: true });
        }
      });
    },
  );
}
