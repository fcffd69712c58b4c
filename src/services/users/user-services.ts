/** What the pages of sign-in and people call; the dashboard and the console share it. */
import type { Db } from '../../db/transaction';
import type { SecretBox } from '../../lib/secret-box';
import { createPasskeys, type Passkeys } from './passkeys';
import { createPeople, type People } from './people';
import { createSecondFactors, type SecondFactors } from './second-factors';
import { createUserSessions, type SignedIn, type UserSessions } from './sessions';
import { createSignIn, type SignIn } from './sign-in';
import { changeOwnPassword } from './users';

export interface UserServices {
  /** The other sessions end. @throws InvalidInput */
  changePassword(user: SignedIn, password: string): Promise<void>;
  sessions: UserSessions;
  signIn: SignIn;
  factors: SecondFactors;
  passkeys: Passkeys;
  people: People;
}

export function createUserServices(db: Db, box: SecretBox): UserServices {
  return {
    changePassword: (user, password) => changeOwnPassword(db, user, password),
    sessions: createUserSessions(db),
    signIn: createSignIn(db, box),
    factors: createSecondFactors(db, box),
    passkeys: createPasskeys(db, box),
    people: createPeople(db, box),
  };
}
