/** What the pages of sign-in and people call; the dashboard and the console share it. */
import type { Db } from '../db/transaction';
import type { SecretBox } from '../platform/lib/secret-box';
import { createNotificationChoices } from '../features/people/notification-choices';
import { createPasskeys } from '../features/people/passkeys';
import { createPasswordResets } from '../features/people/password-resets';
import { createPeople } from '../features/people/people';
import { createSecondFactors } from '../features/people/second-factors';
import { createUserSessions, type SignedIn, type SignInRules } from '../kit/service/sessions';
import { createSignIn } from '../features/people/sign-in';
import { changeOwnPassword } from '../features/people/users';

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
