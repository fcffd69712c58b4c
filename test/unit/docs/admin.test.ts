/** docs/admin.md and the help of the admin command show commands that exist and can be typed. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NOUNS } from '../../../src/cli/nouns';
import { readCommand } from '../../../src/cli/run-command';
import { isId } from '../../../src/domain/ids';

const COMMAND = 'npm run -s admin -- ';
const DOCUMENT = readFileSync(resolve(__dirname, '../../..', join('docs', 'admin.md')), 'utf8');

const VERBS = Object.entries(NOUNS).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs).map(([name, verb]) => ({ name: `${noun} ${name}`, verb })),
);
const DOCUMENTED = DOCUMENT.split('\n')
  .filter((line) => line.startsWith(COMMAND) && !line.includes('<noun>'))
  .map((line) => line.slice(COMMAND.length));

test.each(VERBS)('docs/admin.md has an example of $name', ({ name }) => {
  expect(DOCUMENTED.filter((line) => `${line} `.startsWith(`${name} `))).not.toEqual([]);
});

test.each(VERBS)('docs/admin.md or its example names every option of $name', ({ verb }) => {
  // --id stands there as the id itself.
  const options = Object.keys(verb.options).filter((option) => option !== 'id');
  expect(options.filter((option) => !DOCUMENT.includes(`--${option}`))).toEqual([]);
});

test.each(DOCUMENTED)('what docs/admin.md shows can be typed: %s', (line) => {
  expect(() => readCommand(wordsOf(line))).not.toThrow();
});

test.each(VERBS)(
  'the help of $name explains it with examples that can be typed',
  ({ name, verb }) => {
    const answer = readCommand([...name.split(' '), '--help']);
    const help = 'help' in answer ? answer.help : '';
    expect(help).toMatch(/^Usage: npm run -s admin -- /);
    expect(verb.examples.length).toBeGreaterThan(0);
    for (const example of verb.examples) {
      expect(example.startsWith(name)).toBe(true);
      expect(help).toContain(example);
      expect(() => readCommand(wordsOf(example))).not.toThrow();
    }
  },
);

test.each(Object.entries(NOUNS))('the help of %s names each of its verbs', (noun, { verbs }) => {
  const answer = readCommand([noun, '--help']);
  const help = 'help' in answer ? answer.help : '';
  for (const verb of Object.keys(verbs)) expect(help).toMatch(new RegExp(`^  ${verb} `, 'm'));
});

test('the operation ids in the examples are ids', () => {
  const shown = [DOCUMENT, ...VERBS.flatMap(({ verb }) => verb.examples)];
  const ids = shown.flatMap((text) => text.match(/adj_\w+/g) ?? []);
  expect(ids.length).toBeGreaterThan(1);
  expect(ids.filter((id) => !isId('adjustment', id))).toEqual([]);
});

test.each([
  ['in a verb that changes nothing', ['keys', 'list', '--reason', 'x'], /--reason/],
  ['twice an account', ['limits', 'list', '--default', '--account', 'acc_x'], /exclude/],
  ['a value that is missing', ['keys', 'create', '--mode'], /--mode/],
  ['a word too many', ['keys', 'list', 'key_x'], /key_x/],
  ['a value for a flag', ['keys', 'list', '--json=yes'], /--json/],
])('%s is a wrong usage that names the option', (_, args, sentence) => {
  expect(() => readCommand(args)).toThrow(sentence);
});

/** As a shell splits it; the documents use double quotes and line ends with a backslash. */
function wordsOf(line: string): string[] {
  const words = line.replace(/\\\n/g, ' ').match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => word.replace(/^"(.*)"$/, '$1'));
}
