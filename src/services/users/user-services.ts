/** What the pages of sign-in and people call; the dashboard and the console share it. */
import type { Db } from '../../db/transaction';
import type { SecretBox } from '../../lib/secret-box';
import { createNotificationChoices } from './notification-choices';
import { createPasskeys } from './passkeys';
import { createPasswordResets } from './password-resets';
import { createPeople } from './people';
import { createSecondFactors } from './second-factors';
import { createUserSessions, type SignedIn, type SignInRules } from './sessions';
import { createSignIn } from './sign-in';
import { changeOwnPassword } from './users';

export type UserServices = ReturnType<typeof createUserServices>;

/** @param sendsMail whether links go by mail */
export function createUserServices(db: Db, box: SecretBox, rules: SignInRules, sendsMail: boolean) {
  return {
    sendsMail,
    /** The other sessions end. @throws InvalidInput */
    changePassword: (user: SignedIn, password: string) => changeOwnPassword(db, user, password),
    sessions: createUserSessions(db, rules),
    signIn: createSignIn(db, box, rules),
    factors: createSecondFactors(db, box),
    passkeys: createPasskeys(db, box, rules),
    resets: createPasswordResets(db, box),
    people: createPeople(db, box, rules, sendsMail),
    notifications: createNotificationChoices(db),
  };
}
