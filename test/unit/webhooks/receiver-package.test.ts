/** The receiver's check as a merchant's program gets it: by the package's name, built, with types. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import ts from 'typescript';
import { VECTORS_FILE } from '../../support/webhook-vectors';

const ROOT = resolve(__dirname, '../../..');
const SOURCE = 'src/webhooks/verify.ts';

/** A merchant's project, with the package among its modules and nothing else. */
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'receiver-'));
  const installed = join(project, 'node_modules', 'payments-gateway');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  build(join(installed, 'dist'));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** What `npm run build` does for this one file. */
function build(outDir: string): void {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram([join(ROOT, SOURCE)], {
    ...options,
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

test('its types are found, and refuse what would fail', () => {
  const receiver = join(project, 'receiver.ts');
  const diagnose = (text: string): string[] => {
    writeFileSync(receiver, `import { verifyWebhook } from 'payments-gateway/webhooks';\n${text}`);
    const program = ts.createProgram([receiver], {
      strict: true,
      noEmit: true,
      module: ts.ModuleKind.Node16,
      types: [],
      lib: ['lib.es2022.d.ts'],
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  };
  const call = (body: string): string =>
    `export const id: string = verifyWebhook(${body}, { a: 'b' }, ['s'], { now: new Date() }).id;`;
  expect(diagnose(call(`'text'`))).toEqual([]);
  expect(diagnose(call('new Uint8Array()'))).toEqual([]);
  expect(diagnose(call('{ id: 1 }'))).not.toEqual([]);
});

test('it needs nothing but Node’s crypto', () => {
  const text = readFileSync(join(ROOT, SOURCE), 'utf8');
  const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  expect(imported).toEqual(['node:crypto']);
});

test('`npm run build` writes the two files that package.json exports', () => {
  const { exports, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, Record<string, string>>;
    scripts: Record<string, string>;
  };
  const built = join('dist', SOURCE.replace(/\.ts$/, ''));
  expect(exports['./webhooks']).toEqual({
    types: `./${built}.d.ts`,
    default: `./${built}.js`,
  });
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.webhooks.json'), (path) =>
    ts.sys.readFile(path),
  ) as { config: { files: string[]; compilerOptions: { declaration: boolean } } };
  expect(config.files).toEqual([SOURCE]);
  expect(config.compilerOptions.declaration).toBe(true);
  expect(scripts['build']).toContain('tsc -p tsconfig.webhooks.json');
  expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toContain('tsconfig.webhooks.json');
});
