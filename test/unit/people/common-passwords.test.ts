import { isCommonPassword } from '../../../src/features/people/common-passwords';

test.each([
  'password1234',
  'P@ssw0rd!2026',
  'Welcome2026!!',
  'qwertyuiop12',
  'aaaaaaaaaaaaa',
  '123456789012',
  'letmein12345!',
  'abcdefghijkl',
  'Passwort2026',
])('%s is easy to guess', (password) => {
  expect(isCommonPassword(password)).toBe(true);
});

test.each([
  'correct horse battery',
  'a password of many words',
  'Xk2-94mfLw8z',
  'test-password-of-alice',
  'wintergarten am see',
])('%s is not', (password) => {
  expect(isCommonPassword(password)).toBe(false);
});
