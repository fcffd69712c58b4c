/**
 * Strict clients that are generated from openapi.json read answers of a later gateway, whose objects have members
 * that they do not know (decisions/api#versioning): zod in TypeScript, and pydantic in Python.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { findOnPath } from '../../src/dev/processes';
import { OPERATIONS } from '../../src/openapi/document';
import { DOCUMENT } from '../support/merchant/contract';
import { example, later } from './later-answers';
import { describeWithProgram } from '../support/optional-program';

const DOCUMENT_FILE = resolve(__dirname, '../../openapi.json');
const GENERATOR = 'datamodel-code-generator==0.89.0';
const PYDANTIC = 'pydantic==2.14.4';

/** Named as the generator names the classes of answers. */
const ANSWERS: Record<string, object> = {
  PaymentsPostResponse: example('createPayment'),
  PaymentsGetResponse: example('listPayments'),
  PayoutsPostResponse: example('createPayout'),
  Balance: example('getBalance'),
};

const READ = `import json, sys
sys.path.insert(0, '.')
import generated
for name, answer in json.load(sys.stdin).items():
    getattr(generated, name).model_validate_json(json.dumps(answer), strict=True)
    print(name)
`;

/** A row of an export is a map: its members are columns, and all of them are text. */
const READ_BY_ZOD = OPERATIONS.map(({ id }) => id).filter((id) => id !== 'exportFile');

test.each(READ_BY_ZOD)('zod reads an answer of %s with members that were added later', (id) => {
  const { path, method, success } = OPERATIONS.find((one) => one.id === id)!;
  const response = DOCUMENT.paths[path]![method]!.responses[success.status]!;
  const text = JSON.stringify(response.content['application/json']);
  const { schema } = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as {
    schema: object;
  };
  const named = JSON.stringify(
    (DOCUMENT as unknown as { components: { schemas: object } }).components.schemas,
  ).replaceAll('#/components/schemas/', '#/$defs/');
  const whole = { ...schema, $defs: JSON.parse(named) as object };
  const read = z.fromJSONSchema(whole as Parameters<typeof z.fromJSONSchema>[0]);
  expect(read.safeParse(success.example).error).toBeUndefined();
  expect(read.safeParse(later(success.example)).error).toBeUndefined();
  // It is strict about the members that it knows.
  expect(read.safeParse({}).success).toBe(false);
});

describeWithProgram(
  findOnPath('python3'),
  'Install Python 3.11 or newer.',
  'the pydantic models of datamodel-code-generator',
  () => {
    test('read answers with members that were added later', () => {
      const folder = mkdtempSync(join(tmpdir(), 'pydantic-'));
      const run = (program: string, args: string[], input = '') =>
        execFileSync(program, args, { cwd: folder, input, encoding: 'utf8', stdio: 'pipe' });
      try {
        run('python3', ['-m', 'venv', 'python']);
        const python = join(folder, 'python/bin/python');
        run(python, ['-m', 'pip', 'install', '--quiet', GENERATOR, PYDANTIC]);
        const input = ['--input', DOCUMENT_FILE, '--input-file-type', 'openapi'];
        const output = ['--output', 'generated.py', '--output-model-type', 'pydantic_v2.BaseModel'];
        const scopes = ['--openapi-scopes', 'schemas', 'paths'];
        run(join(folder, 'python/bin/datamodel-codegen'), [...input, ...output, ...scopes]);
        writeFileSync(join(folder, 'read.py'), READ);
        const answers = Object.entries(ANSWERS).map(([name, answer]) => [name, later(answer)]);
        const read = run(python, ['read.py'], JSON.stringify(Object.fromEntries(answers)));
        expect(read.trim().split('\n')).toEqual(Object.keys(ANSWERS));
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  },
);
