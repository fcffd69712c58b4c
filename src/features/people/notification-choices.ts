/** What the signed-in person is notified of by mail, in the account that they look at (decisions/notifications#notifications). */
import { listChoices, saveChoice } from '../../db/people/notification-choices';
import type { Db } from '../../db/transaction';
import {
  isAlwaysTold,
  mayBeTold,
  NOTIFICATIONS,
  OCCASION_KINDS,
  type OccasionKind,
} from '../../domain/notifications';
import type { SignedIn } from '../../kit/service/sessions';

export interface NotificationChoice {
  kind: OccasionKind;
  title: string;
  isOn: boolean;
}

export function createNotificationChoices(db: Db) {
  return {
    /** The kinds of which the person's role may be notified. */
    list: async (user: SignedIn): Promise<NotificationChoice[]> => {
      const chosen = await listChoices(db, user.userId, accountOf(user));
      return kindsOf(user).map((kind) => {
        const { title, isOn } = NOTIFICATIONS[kind];
        return { kind, title, isOn: chosen.find((one) => one.kind === kind)?.byEmail ?? isOn };
      });
    },
    /** @param wanted the kinds to be notified of; all others are off */
    save: (user: SignedIn, wanted: readonly string[]) =>
      db.transaction(async (tx) => {
        for (const kind of kindsOf(user)) {
          await saveChoice(tx, {
            userId: user.userId,
            accountId: accountOf(user),
            kind,
            byEmail: wanted.includes(kind),
          });
        }
      }),
  };
}

const kindsOf = ({ actor }: SignedIn) =>
  OCCASION_KINDS.filter((kind) => !isAlwaysTold(kind) && mayBeTold(kind, actor));

/** Empty for an operator. */
const accountOf = ({ actor }: SignedIn) => (actor.kind === 'merchant' ? actor.accountId : '');
