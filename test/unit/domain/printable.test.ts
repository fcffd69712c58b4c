import { printableJson as printedByClient } from '../../../clients/typescript/src/cli/output';
import { showList, showObject } from '../../../src/kit/admin/output';
import { isPrintable } from '../../../src/domain/printable';
import { printableJson } from '../../../src/platform/lib/printable-json';

test.each([
  ['ESC', 'Shop\u001b[2J'],
  ['the C1 form of ESC [', 'Shop\u009b2J'],
  ['an override of the direction', 'shop\u202etxt'],
  ['an isolate', 'shop\u2066x\u2069'],
  ['a mark of direction', 'shop\u200f'],
  ['a line feed', 'Shop\nAdmin'],
  ['a line separator', 'Shop\u2028Admin'],
  ['a zero-width space', 'Sh\u200bop'],
  ['a byte order mark', '\ufeffShop'],
  ['half of a surrogate pair', 'Shop\ud800'],
])('%s is not printable', (_what, text) => {
  expect(isPrintable(text)).toBe(false);
});

test.each(['Café Zürich', 'متجر', '店', 'क्‍ष', '👩‍💻 Shop', "O'Neill & Söhne <b>"])(
  '%s is printable',
  (text) => {
    expect(isPrintable(text)).toBe(true);
  },
);

test('the admin command prints no text of others that steers the terminal', () => {
  const row = {
    reason: 'a\u001b[2J\u009b2J\u202eb',
    tags: ['\u001bc'],
    metadata: { a: '\u009bd' },
  };
  const list = { object: 'list' as const, data: [row], has_more: false };
  for (const shown of [showObject(row), showList(list, ['reason', 'tags', 'metadata'], 'none')]) {
    expect(shown).toContain('a\ufffd[2J\ufffd2J\ufffdb');
    for (const steering of '\u001b\u009b\u202e') expect(shown).not.toContain(steering);
  }
});

test.each([
  ['the admin command', printableJson],
  ['the command of merchants', printedByClient],
])('with --json, %s prints no such text either, and the same values', (_who, print) => {
  const value = { reason: 'a\u001b[2J\u009b2J\u007f\u202eb\u2028\u{e0001}é👩‍💻', rows: ['\u009bd'] };
  const shown = print(value, 2);
  expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(shown).toContain('\n  "reason"');
  expect(JSON.parse(shown)).toEqual(value);
});
