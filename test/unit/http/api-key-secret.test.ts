import { parseApiKey } from '../../../src/domain/api-key';
import { MODES } from '../../../src/domain/mode';
import { hashApiKey, makeApiKey } from '../../../src/platform/lib/api-key-secret';

describe.each(MODES)('a new %s key', (mode) => {
  const key = makeApiKey(mode);

  it('is accepted by its own check, and says its mode', () => {
    expect(parseApiKey(key.secret)).toEqual({ mode });
  });

  it('shows its first and last characters only', () => {
    expect(key.secret.startsWith(key.displayPrefix)).toBe(true);
    expect(key.secret.endsWith(key.lastFour)).toBe(true);
    expect(key.displayPrefix.length + key.lastFour.length).toBeLessThan(20);
  });

  it('is refused with any single character changed', () => {
    const start = `sk_${mode}_`.length;
    for (let i = start; i < key.secret.length; i++) {
      const other = key.secret[i] === 'a' ? 'b' : 'a';
      expect(parseApiKey(key.secret.slice(0, i) + other + key.secret.slice(i + 1))).toBeNull();
    }
  });

  it('is another one each time, and hashes by key and pepper', () => {
    const other = makeApiKey(mode);
    expect(other.secret).not.toBe(key.secret);
    const hashes = [
      hashApiKey(key.secret, 'pepper'),
      hashApiKey(other.secret, 'pepper'),
      hashApiKey(key.secret, 'other pepper'),
    ];
    expect(new Set(hashes.map((hash) => hash.toString('hex'))).size).toBe(3);
    expect(hashApiKey(key.secret, 'pepper')).toEqual(hashes[0]);
  });
});
