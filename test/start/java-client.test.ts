/**
 * A client that openapi-generator makes for Java compiles, and reads answers of a later gateway: an object with
 * a member that it does not know (decisions/api#versioning).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findOnPath } from '../../src/dev/processes';
import { example, later } from './later-answers';
import { describeWithProgram } from '../support/optional-program';

const FIXTURE = join(__dirname, '../fixtures/java-client');
const PROGRAMS = ['java', 'javac', 'mvn'].map(findOnPath);

/** Named as the generator names the classes of answers. */
const ANSWERS: Record<string, object> = {
  CreatePayment201Response: example('createPayment'),
  ListPayments200Response: example('listPayments'),
  CreatePayout201Response: example('createPayout'),
  Balance: example('getBalance'),
  CreateWebhookEndpoint201Response: example('createWebhookEndpoint'),
  GetApiKey200Response: example('getApiKey'),
};

describeWithProgram(
  PROGRAMS.includes(null) ? null : 'java',
  'Install a JDK and Maven.',
  'the Java client of openapi-generator',
  () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'java-client-'));
    });
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    const run = (program: string, ...args: string[]) =>
      execFileSync(program, args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });

    test('compiles, and reads answers with members that were added later', () => {
      const lib = join(folder, 'lib');
      run(
        'mvn',
        ...['-q', '-f', join(FIXTURE, 'pom.xml'), 'dependency:copy-dependencies'],
        `-DoutputDirectory=${lib}`,
      );
      const jars = readdirSync(lib).map((name) => join(lib, name));
      const generator = jars.find((jar) => jar.includes('openapi-generator-cli'))!;
      const path = jars.filter((jar) => jar !== generator).join(delimiter);
      run(
        'java',
        ...['-jar', generator, 'generate', '-g', 'java', '--library', 'native', '-o', 'client'],
        ...['-i', join(__dirname, '../../openapi.json')],
        '--additional-properties=openApiNullable=false,useJakartaEe=true',
        '--global-property=models,supportingFiles,apis=false,modelDocs=false,modelTests=false',
      );
      const source = join(folder, 'client/src/main/java');
      const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.java'))
        .map((file) => join(source, file));
      run('javac', '-nowarn', '-cp', path, '-d', 'classes', ...files, join(FIXTURE, 'Read.java'));
      const args = Object.entries(ANSWERS).flatMap(([name, answer]) => {
        const file = join(folder, `${name}.json`);
        writeFileSync(file, JSON.stringify(later(answer)));
        return [name, file];
      });
      const lines = run(
        'java',
        '-cp',
        [path, join(folder, 'classes')].join(delimiter),
        'Read',
        ...args,
      );
      const read = lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
      expect(read).toHaveLength(Object.keys(ANSWERS).length);
      expect(read[0]).toMatchObject({ data: { object: 'payment', amount: expect.any(String) } });
      expect(read[1]).toMatchObject({ data: [{ object: 'payment' }], meta: { per_page: 25 } });
    });
  },
);
