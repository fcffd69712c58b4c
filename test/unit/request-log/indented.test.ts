import { indented } from '../../../src/features/request-log/dashboard/indented';

test.each([
  [
    '{"a":1,"b":[],"c":{"d":"x: {\\"y\\"}"}}',
    '{\n  "a": 1,\n  "b": [],\n  "c": {\n    "d": "x: {\\"y\\"}"\n  }\n}',
  ],
  ['{"amount":12345678901234567.12345678}', '{\n  "amount": 12345678901234567.12345678\n}'],
  ['[{"a":"cut o', '[\n  {\n    "a": "cut o'],
  ['[1,]}', '[\n  1,\n]\n}'],
  ['{ } [ ]', '{}[]'],
  ['not JSON, but text', 'not JSON, but text'],
])('%s is shown line by line', (text, lines) => {
  expect(indented(text)).toBe(lines);
});

test.each(['['.repeat(4_096), `${'['.repeat(2_048)}${']'.repeat(2_048)}`])(
  'brackets without end do not become megabytes',
  (text) => {
    const shown = indented(text);
    expect(shown.length).toBeLessThan(70 * text.length);
    expect(shown.replaceAll(/\s/g, '')).toBe(text);
  },
);
