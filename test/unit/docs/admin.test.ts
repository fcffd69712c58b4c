/** docs/admin.md and the help of the admin command show commands that exist and can be typed. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createAdmin } from '../../../src/shell/admin/admin';
import { isId } from '../../../src/domain/ids';
import { runCommand } from '../../../src/platform/lib/command-line';
import { type Ended, runProgram } from '../../support/servers/programs';

const COMMAND = 'npm run -s admin -- ';
const DOCUMENT = readFileSync(resolve(__dirname, '../../..', join('docs', 'admin.md')), 'utf8');

const SILENT = { env: {}, out: () => undefined, err: () => undefined };
const NOUNS = createAdmin(SILENT, async () => undefined).commands.map((noun) => ({
  noun: noun.name(),
  verbs: noun.commands.map((verb) => verb.name()),
  commands: noun.commands,
}));
const VERBS = NOUNS.flatMap(({ noun, commands }) =>
  commands.map((verb) => ({
    name: `${noun} ${verb.name()}`,
    options: verb.options.map(({ long }) => long ?? ''),
  })),
);
const DOCUMENTED = DOCUMENT.split('\n')
  .filter((line) => line.startsWith(COMMAND) && !line.includes('<noun>'))
  .map((line) => line.slice(COMMAND.length));

/** Reads the words and does nothing. */
function readCommand(words: string[]): Promise<Ended> {
  return runProgram(
    (args, terminal) =>
      runCommand(
        createAdmin(terminal, async () => undefined),
        args,
        terminal,
      ),
    words,
    {},
  );
}

test.each(VERBS)('docs/admin.md has an example of $name', ({ name }) => {
  expect(DOCUMENTED.filter((line) => `${line} `.startsWith(`${name} `))).not.toEqual([]);
});

test.each(VERBS)(
  'docs/admin.md names every option of $name in its section',
  ({ name, options }) => {
    // --id is written as the id itself.
    const named = options.filter((option) => option !== '--id');
    const text = sectionOf('What applies to every command') + sectionOf(name.split(' ')[0] ?? '');
    expect(named.filter((option) => !text.includes(option))).toEqual([]);
  },
);

function sectionOf(heading: string): string {
  const [, text = ''] = DOCUMENT.split(`\n## ${heading}\n`);
  return text.split('\n## ')[0] ?? '';
}

test.each(DOCUMENTED)('what docs/admin.md shows can be typed: %s', async (line) => {
  expect(await readCommand(wordsOf(line))).toEqual({ code: 0, stdout: '', stderr: '' });
});

test.each(VERBS)(
  'the help of $name explains it with examples that can be typed',
  async ({ name }) => {
    const { stdout } = await readCommand([...name.split(' '), '--help']);
    expect(stdout).toMatch(/^Usage: npm run -s admin -- /);
    const examples = examplesOf(stdout);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(example.startsWith(name)).toBe(true);
      expect(await readCommand(wordsOf(example))).toEqual({ code: 0, stdout: '', stderr: '' });
    }
  },
);

test.each(NOUNS)('the help of $noun names each of its verbs', async ({ noun, verbs }) => {
  const { stdout } = await readCommand([noun, '--help']);
  for (const verb of verbs) expect(stdout).toMatch(new RegExp(`^  ${verb} `, 'm'));
  expect(stdout).toContain(`${COMMAND}${noun} ${verbs[0]}`);
});

test('the operation ids in the examples are ids', async () => {
  const help = await readCommand(['adjustments', 'create', '--help']);
  const shown = [DOCUMENT, ...examplesOf(help.stdout)];
  const ids = shown.flatMap((text) => text.match(/adj_\w+/g) ?? []);
  expect(ids.length).toBeGreaterThan(1);
  expect(ids.filter((id) => !isId('adjustment', id))).toEqual([]);
});

test.each<[string, string[], RegExp]>([
  ['in a verb that changes nothing', ['keys', 'list', '--reason', 'x'], /'--reason'/],
  [
    'twice an account',
    ['limits', 'list', '--default', '--account', 'acc_x'],
    /'--default' cannot be used with option '--account/,
  ],
  ['a value that is missing', ['keys', 'create', '--mode'], /'--mode <MODE>' argument missing/],
  ['a word too many', ['keys', 'list', 'key_x'], /too many arguments for 'list'/],
  ['a value for a flag', ['keys', 'list', '--json=yes'], /'--json=yes'/],
  ['a verb with a typing error', ['keys', 'rotat', 'key_x'], /'rotat'\s+\(Did you mean rotate\?/],
  ['an option with a typing error', ['keys', 'list', '--jsn'], /'--jsn'\s+\(Did you mean --json\?/],
])('%s is a wrong usage that names the option', async (_, args, sentence) => {
  const ended = await readCommand(args);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(sentence);
});

function examplesOf(help: string): string[] {
  const [, examples = ''] = help.split('\nExamples:\n');
  return examples
    .split(`  ${COMMAND}`)
    .map((example) => example.trim())
    .filter((example) => example !== '');
}

/** Splits a command line as a shell does; the documents use double quotes, and backslashes at line ends. */
function wordsOf(line: string): string[] {
  const words = line.replace(/\\\n/g, ' ').match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => word.replace(/^"(.*)"$/, '$1'));
}
