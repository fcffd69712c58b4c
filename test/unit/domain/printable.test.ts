import { showList, showObject } from '../../../src/cli/output';
import { isPrintable } from '../../../src/domain/printable';

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
