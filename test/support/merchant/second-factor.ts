/** A second factor of a person, which no page has to set up. */
import { insertPasskey } from '../../../src/db/people/second-factors';
import type { Db } from '../../../src/db/transaction';
import { newId } from '../../../src/platform/lib/new-id';
import { firstRecoveryCodes } from '../../../src/features/people/second-factors';
import type { PageClient, TestUser } from './page-client';

/** @returns recovery codes, each of which works once */
export function giveSecondFactor(db: Db, { id: userId }: { id: string }): Promise<string[]> {
  return db.transaction(async (tx) => {
    const id = newId('passkey');
    const key = { credentialId: id, publicKey: Buffer.alloc(0), counter: 0, transports: [] };
    await insertPasskey(tx, { ...key, id, userId, name: 'in a drawer' });
    return (await firstRecoveryCodes(tx, userId)) ?? [];
  });
}

/** Signs in with the password and a code. */
export async function signInWithCode(
  client: PageClient,
  user: TestUser,
  code: string,
): Promise<Response> {
  const site = user.kind === 'merchant' ? '/dashboard' : '/console';
  const asked = await client.signIn(user);
  expect(asked.headers.get('location')).toContain(`${site}/sign-in/second-step`);
  return client.post(`${site}/sign-in/second-step`, { code });
}
