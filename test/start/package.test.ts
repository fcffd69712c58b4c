/** The packages of the TypeScript client and of the MCP server as `npm pack` makes them, in a merchant's folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(__dirname, '../..');
const run = promisify(execFile);

let folder: string;
/** The merchant's. */
let project: string;

beforeAll(async () => {
  // Outside the project: the package finds no other one.
  folder = mkdtempSync(join(tmpdir(), 'package-'));
  project = join(folder, 'project');
  await install('typescript', 'payments-gateway');
  writeFileSync(join(project, 'package.json'), '{"name":"merchant","private":true}');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Packs the package of this folder of clients, which builds it first, and unpacks it for the merchant. */
async function install(client: string, name: string): Promise<void> {
  const cwd = join(ROOT, 'clients', client);
  const destination = ['--pack-destination', folder];
  const packed = await run('npm', ['pack', '--json', '--silent', ...destination], { cwd });
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('['))) as [
    { filename: string },
  ];
  const installed = join(project, 'node_modules', name);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed]);
}

test('the MCP server has everything in its package but the SDK of the protocol', async () => {
  await install('mcp', 'payments-gateway-mcp');
  const installed = join(project, 'node_modules/payments-gateway-mcp');
  const { bin, dependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  ) as { bin: Record<string, string>; dependencies: Record<string, string> };
  expect(Object.keys(dependencies)).toEqual(['@modelcontextprotocol/sdk']);
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  expect(own.devDependencies).toMatchObject(dependencies);
  symlinkSync(
    join(ROOT, 'node_modules/@modelcontextprotocol'),
    join(project, 'node_modules/@modelcontextprotocol'),
  );
  const program = join(installed, bin['payments-gateway-mcp'] ?? '');
  const { stdout } = await run(process.execPath, [program, '--version'], { cwd: project });
  expect(stdout).toBe('0.1.0\n');
});

test('the command for merchants runs', async () => {
  const installed = join(project, 'node_modules/payments-gateway');
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const command = join(installed, bin['payments-gateway'] ?? '');
  const { stdout } = await run(process.execPath, [command, 'listen', '--help'], { cwd: project });
  expect(stdout).toContain('--forward-to <url>');
});

test.each([
  ['esm.mjs', (names: string, from: string) => `import { ${names} } from '${from}';`],
  ['commonjs.cjs', (names: string, from: string) => `const { ${names} } = require('${from}');`],
])('%s gets the SDK and the check of webhooks', async (file, load) => {
  const lines = [
    load('GatewayClient', 'payments-gateway/client'),
    load('verifyWebhook', 'payments-gateway/webhooks'),
    'console.log(typeof GatewayClient, typeof verifyWebhook);',
  ];
  writeFileSync(join(project, file), lines.join('\n'));
  const { stdout } = await run(process.execPath, [file], { cwd: project });
  expect(stdout).toBe('function function\n');
});

test.each(['node16', 'bundler'])('tsc finds the types with %s', async (resolution) => {
  const text = `import { GatewayClient } from 'payments-gateway/client';
    import { verifyWebhook } from 'payments-gateway/webhooks';
    const client = new GatewayClient({ baseUrl: 'http://localhost', key: 'sk_test_x' });
    export const amount: Promise<string> = client.payouts.get('po_1').then((one) => one.amount);
    // @ts-expect-error: an amount is text.
    export const wrong: Promise<number> = client.payouts.get('po_1').then((one) => one.amount);
    export const id: string = verifyWebhook('{}', {}, 'secret').id;`;
  writeFileSync(join(project, 'merchant.ts'), text);
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  const module = resolution === 'bundler' ? 'esnext' : resolution;
  const how = ['--module', module, '--moduleResolution', resolution, '--strict', '--noEmit'];
  const all = ['--skipLibCheck', '--ignoreConfig', ...types, ...how, 'merchant.ts'];
  await run(tsc, all, { cwd: project });
});
