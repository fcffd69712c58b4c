/** What people have chosen to be notified of. The account is empty for an operator. */
import type { OccasionKind } from '../../domain/notifications';
import type { Reader, Tx } from '../transaction';

interface Choice {
  userId: string;
  accountId: string;
  kind: OccasionKind;
  byEmail: boolean;
}

export function listChoices(
  db: Reader,
  userId: string,
  accountId: string,
): Promise<Pick<Choice, 'kind' | 'byEmail'>[]> {
  return db.query(
    'SELECT kind, by_email FROM notification_choices WHERE user_id = ? AND account_id = ?',
    [userId, accountId],
  );
}

export async function saveChoice(
  tx: Tx,
  { userId, accountId, kind, byEmail }: Choice,
): Promise<void> {
  await tx.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email) VALUES (?, ?, ?, ?)
     ON CONFLICT (user_id, account_id, kind) DO UPDATE SET by_email = excluded.by_email`,
    [userId, accountId, kind, byEmail],
  );
}
