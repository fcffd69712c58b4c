import { indented } from '../../../src/dashboard/requests/indented';

test.each([
  [
    '{"a":1,"b":[],"c":{"d":"x: {\\"y\\"}"}}',
    '{\n  "a": 1,\n  "b": [],\n  "c": {\n    "d": "x: {\\"y\\"}"\n  }\n}',
  ],
  ['{"amount":12345678901234567.12345678}', '{\n  "amount": 12345678901234567.12345678\n}'],
  ['[{"a":"cut o', '[\n  {\n    "a": "cut o'],
  ['not JSON, but text', 'not JSON, but text'],
])('%s is shown line by line', (text, lines) => {
  expect(indented(text)).toBe(lines);
});
