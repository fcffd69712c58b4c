/** Decides who is notified, when a message is made and again when it is sent. */
import type { Occasion, Person } from '../../src/db/notifications/notifications';
import {
  isAlwaysTold,
  isOccasionKind,
  mayBeTold,
  NOTIFICATIONS,
} from '../../src/domain/notifications';
import type { Role } from '../../src/domain/users';

export function isTold({ kind }: Pick<Occasion, 'kind'>, person: Person): boolean {
  // A newer program can note kinds that this one does not know.
  if (!isOccasionKind(kind)) return false;
  if (isAlwaysTold(kind)) return true;
  const role = { kind: person.kind, role: person.role } as Role;
  return mayBeTold(kind, role) && (person.isChosen ?? NOTIFICATIONS[kind].isOn);
}
