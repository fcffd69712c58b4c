import { randomBytes } from 'node:crypto';
import { createSecretBox, openValue, sealValue } from '../../../src/platform/lib/secret-box';

const text = () => randomBytes(32).toString('hex');
const SECRET = 'a secret of an endpoint';

test('what was sealed opens again, for its owner alone, and never looks the same twice', () => {
  const box = createSecretBox(text(), []);
  const [first, second] = [box.seal(SECRET, 'we_1'), box.seal(SECRET, 'we_1')];
  expect(box.open(first, 'we_1')).toBe(SECRET);
  expect(first.sealed.equals(second.sealed)).toBe(false);
  expect(first.sealed.includes(Buffer.from(SECRET))).toBe(false);
  expect(() => box.open(first, 'we_2')).toThrow();
});

test.each([0, 12, 28])('a change of byte %i is noticed', (index) => {
  const box = createSecretBox(text(), []);
  const { sealed, keyId } = box.seal(SECRET, 'we_1');
  sealed[index]! ^= 1;
  expect(() => box.open({ sealed, keyId }, 'we_1')).toThrow();
});

test.each([4, 8, 15])('a tag that is cut to %i bytes is refused', (length) => {
  const box = createSecretBox(text(), []);
  const { sealed, keyId } = box.seal('', 'we_1');
  expect(box.open({ sealed, keyId }, 'we_1')).toBe('');
  const cut = sealed.subarray(0, 12 + length);
  expect(() => box.open({ sealed: cut, keyId }, 'we_1')).toThrow();
});

test('an earlier key still opens, and the new one seals', () => {
  const [before, now] = [text(), text()];
  const old = createSecretBox(before, []).seal(SECRET, 'we_1');
  const box = createSecretBox(now, [before]);
  expect(box.open(old, 'we_1')).toBe(SECRET);
  expect(box.seal(SECRET, 'we_1').keyId).not.toBe(old.keyId);
  expect(() => createSecretBox(now, []).open(old, 'we_1')).toThrow(/WEBHOOK_SECRET_KEYS_EARLIER/);
});

test('a fingerprint is the same for the same text and key, and is found after a change of the key', () => {
  const [before, now] = [text(), text()];
  const old = createSecretBox(before, []).fingerprints(SECRET);
  expect(old).toHaveLength(1);
  expect(createSecretBox(before, []).fingerprints(SECRET)).toEqual(old);
  expect(createSecretBox(before, []).fingerprints(`${SECRET}.`)).not.toEqual(old);
  const [current, ...earlier] = createSecretBox(now, [before]).fingerprints(SECRET);
  expect(current).not.toEqual(old[0]);
  expect(earlier).toEqual([...old]);
});

test('a sealed value ends with its time', () => {
  const box = createSecretBox(text(), []);
  const seal = (minutes: number) => sealValue(box, { id: 'user_1' }, 'second step', minutes);
  expect(openValue(box, seal(1), 'second step')).toEqual({ id: 'user_1' });
  expect(openValue(box, seal(1), 'passkey')).toBeNull();
  expect(openValue(box, seal(0), 'second step')).toBeNull();
});
