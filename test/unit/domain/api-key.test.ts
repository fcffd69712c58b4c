import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { BASE62, checkCharacters, parseApiKey } from '../../../src/domain/api-key';
import { MODES } from '../../../src/domain/mode';
import { makeApiKey } from '../../../src/platform/lib/api-key-secret';

test.each(MODES)('a key says its mode: %s', (mode) => {
  expect(parseApiKey(makeApiKey(mode).secret)).toEqual({ mode });
});

test('the check characters are the CRC32 of what stands before them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), (text) => {
      const value = Array.from(checkCharacters(text)).reduce(
        (sum, character) => sum * 62n + BigInt(BASE62.indexOf(character)),
        0n,
      );
      expect(value).toBe(BigInt(crc32(text)));
    }),
  );
});

test('one wrong character is found, wherever it is', () => {
  const { secret } = makeApiKey('test');
  for (let place = 0; place < secret.length; place++) {
    for (const wrong of BASE62) {
      if (wrong === secret[place]) continue;
      expect(parseApiKey(secret.slice(0, place) + wrong + secret.slice(place + 1))).toBeNull();
    }
  }
});

test('two neighbours that changed places are found', () => {
  const { secret } = makeApiKey('live');
  for (let place = 0; place + 1 < secret.length; place++) {
    const [left, right] = [secret.charAt(place), secret.charAt(place + 1)];
    if (left === right) continue;
    expect(parseApiKey(secret.slice(0, place) + right + left + secret.slice(place + 2))).toBeNull();
  }
});

test('a key of one mode does not pass as the other’s', () => {
  const { secret } = makeApiKey('test');
  expect(parseApiKey(secret.replace('sk_test_', 'sk_live_'))).toBeNull();
});

test.each<[string, (secret: string) => string]>([
  ['a missing character', (secret) => secret.slice(0, -1)],
  ['one too many', (secret) => `${secret}0`],
  ['a space before it', (secret) => ` ${secret}`],
  ['a line break after it', (secret) => `${secret}\n`],
  ['another prefix', (secret) => secret.replace('sk_', 'pk_')],
  ['capitals', (secret) => secret.toUpperCase()],
  ['nothing', () => ''],
])('%s is no key', (_what, change) => {
  expect(parseApiKey(change(makeApiKey('test').secret))).toBeNull();
});
