/**
 * What merchants import, as their programs get it: by the package's name, built, with types. The
 * receiver's check and the SDK.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execFileSync, spawn } from 'node:child_process';
import ts from 'typescript';
import { newId } from '../../../src/platform/lib/new-id';
import { signWebhook } from '../../../clients/typescript/src/webhooks';
import { findFreePort } from '../../../src/dev/ports';
import { VECTORS_FILE } from './webhook-vectors';
import { waitThroughFaults } from '../../support/wait-for';

const ROOT = resolve(__dirname, '../../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const SOURCE = join(PACKAGE, 'src/webhooks.ts');
const SDK = join(PACKAGE, 'src/index.ts');

/** A merchant's project, with the package among its modules and nothing else. */
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'receiver-'));
  const installed = join(project, 'node_modules', 'payments-gateway');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  copyFileSync(join(PACKAGE, 'package.json'), join(installed, 'package.json'));
  build(join(installed, 'dist'));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** What the package's build does for these files. */
function build(outDir: string): void {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram([SOURCE, SDK], {
    ...options,
    rootDir: join(PACKAGE, 'src'),
    types: ['node'],
    outDir,
    declaration: true,
  });
  expect(program.emit().emitSkipped).toBe(false);
}

const CHECK = `
  const { vectors } = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
  for (const { name, body, headers, secrets, now, expect } of vectors) {
    let verdict = 'ok';
    try {
      verifyWebhook(body, headers, secrets, { now: new Date(now * 1000) });
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      verdict = error.code;
    }
    if (verdict !== expect) throw new Error(name + ': ' + verdict + ', not ' + expect);
  }
  console.log(vectors.length);`;

test.each([
  [
    'required',
    'receiver.cjs',
    `const fs = require('node:fs');
     const { verifyWebhook, WebhookVerificationError } = require('payments-gateway/webhooks');`,
  ],
  [
    'imported',
    'receiver.mjs',
    `import fs from 'node:fs';
     import { verifyWebhook, WebhookVerificationError } from 'payments-gateway/webhooks';`,
  ],
])('%s by its name, it judges every vector rightly', (_, file, head) => {
  writeFileSync(join(project, file), `${head}\n${CHECK}`);
  const counted = execFileSync(process.execPath, [file, VECTORS_FILE], { cwd: project });
  expect(JSON.parse(counted.toString())).toBeGreaterThan(40);
});

test('the first sample of the guide accepts a signed event and refuses others', async () => {
  const guide = readFileSync(join(ROOT, 'docs/guides/webhooks.md'), 'utf8');
  const sample = /```js\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
  expect(sample).toContain('.listen(4000)');
  const port = await findFreePort();
  writeFileSync(join(project, 'sample.mjs'), sample.replace('4000', String(port)));
  const secret = 'whsec_of_an_installed_package';
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  const receiver = spawn(process.execPath, ['sample.mjs'], { cwd: project, env, stdio: 'ignore' });
  const id = newId('event');
  const body = JSON.stringify({ id, type: 'payout.completed', data: { status: 'completed' } });
  const post = (signature: string) =>
    fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      body,
      headers: { 'x-gateway-signature': signature, 'x-gateway-event-id': id },
    });
  const signed = signWebhook(secret, Math.floor(Date.now() / 1_000), body);
  const accepted = await waitThroughFaults('the receiver', () => post(signed));
  expect(accepted.status).toBe(204);
  expect((await post(signed.replace('v1=', 'v1=0'))).status).toBe(400);
  receiver.kill();
});

/** What the compiler says of a merchant's program; the SDK's types need those of Node. */
function diagnose(text: string, types: string[] = []): string[] {
  const file = join(project, 'merchant.ts');
  writeFileSync(file, text);
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.Node16,
    types,
    // Checking Node's own types takes seconds.
    skipLibCheck: types.length > 0,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    lib: ['lib.es2022.d.ts'],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('its types are found, and refuse what would fail', () => {
  const call = (body: string): string =>
    `import { verifyWebhook } from 'payments-gateway/webhooks';
     export const id: string = verifyWebhook(${body}, { a: 'b' }, ['s'], { now: new Date() }).id;`;
  expect(diagnose(call(`'text'`))).toEqual([]);
  expect(diagnose(call('new Uint8Array()'))).toEqual([]);
  expect(diagnose(call('{ id: 1 }'))).not.toEqual([]);
});

test('it needs nothing but Node’s crypto', () => {
  const text = readFileSync(SOURCE, 'utf8');
  const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  expect(imported).toEqual(['node:crypto']);
});

const SDK_CHECK = `
  const client = new GatewayClient({ baseUrl: 'http://127.0.0.1:1/api/v1', key: 'sk_test_x' });
  client.balance.get({ maxRetries: 0 }).catch((error) => {
    console.log(error instanceof ConnectionError, typeof client.webhooks.verify === 'function');
  });`;

test.each([
  [
    'required',
    'sdk.cjs',
    `const { ConnectionError, GatewayClient } = require('payments-gateway/client');`,
  ],
  [
    'imported',
    'sdk.mjs',
    `import { ConnectionError, GatewayClient } from 'payments-gateway/client';`,
  ],
])('the SDK, %s by its name, runs without any other package', (_, file, head) => {
  writeFileSync(join(project, file), `${head}\n${SDK_CHECK}`);
  const printed = execFileSync(process.execPath, [file], { cwd: project });
  expect(printed.toString()).toBe('true true\n');
});

test('the SDK’s types are found, and refuse what would fail', () => {
  const program = `import { GatewayClient, InsufficientBalanceError } from 'payments-gateway/client';
    const client = new GatewayClient({ baseUrl: '', key: '' });
    export async function pay(error: unknown): Promise<string> {
      for await (const event of client.events.follow({ after: 'latest' })) {
        if (event.data.object === 'payout') return event.data.total_debit;
      }
      if (error instanceof InsufficientBalanceError) return error.details.available;
      const request = { currency: 'USDT', reference: 'order-1' };
      await client.payments.create({ ...request, amount: 25.5 });
      const { status } = await client.payments.create({ ...request, amount: '25.50' });
      return status === 'completed' ? 'paid' : status;
    }`;
  const refused = "Type 'number' is not assignable to type 'string'.";
  expect(diagnose(program, ['node'])).toEqual([refused]);
});

test('the package needs no other one, and each file that it exports has a source', () => {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    dependencies?: object;
    bin: Record<string, string>;
    exports: Record<string, string | { types: string; default: string }>;
  };
  expect(manifest.dependencies).toBeUndefined();
  const exported = Object.values(manifest.exports).filter((entry) => typeof entry === 'object');
  expect(exported).toHaveLength(3);
  for (const entry of exported) expect(entry.types).toBe(entry.default.replace(/js$/, 'd.ts'));
  const built = [...exported.map((entry) => entry.default), ...Object.values(manifest.bin)];
  const sources = built.map((file) => file.replace('dist', 'src').replace(/js$/, 'ts'));
  for (const file of sources) expect(existsSync(join(PACKAGE, file))).toBe(true);

  const files = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' });
  const imported = files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => ts.preProcessFile(readFileSync(join(PACKAGE, 'src', name), 'utf8')))
    .flatMap(({ importedFiles }) => importedFiles.map(({ fileName }) => fileName));
  expect(imported.length).toBeGreaterThan(10);
  expect(imported.filter((name) => !/^(node:|\.)/.test(name))).toEqual([]);
});
