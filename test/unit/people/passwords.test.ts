import { hashPassword } from '../../../src/features/people/passwords';

test('a stored password is argon2id with 19 MiB and two passes', async () => {
  const hash = await hashPassword('correct horse battery staple');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});
