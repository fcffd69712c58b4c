/** What an operator decides about a live recipient that the screening holds or has blocked (decisions/screening). */
import { resolveOpenCase } from '../db/repositories/cases';
import { decideRecipientScreening, lockRecipientForOperator } from '../db/repositories/recipients';
import type { Db } from '../db/transaction';
import type { Recipient } from '../domain/recipient';
import type { Verdict } from '../domain/screening';
import { type ChangedBy, makeChange } from './admin/audit';
import { AdminRefusal } from './admin/refusal';

/** Payouts that wait for it are woken by the schedule `restart-missing`. @throws AdminRefusal */
export function decideAboutRecipient(
  db: Db,
  by: ChangedBy,
  id: string,
  verdict: Exclude<Verdict, 'review'>,
) {
  return makeChange(db, by, async (tx) => {
    const before = await lockRecipientForOperator(tx, id);
    if (before === null) throw new AdminRefusal({ code: 'not_found', object: 'recipient', id });
    const isHeld = before.screening === 'review' || before.screening === 'block';
    if (!isHeld || before.deletedAt !== null) {
      throw new AdminRefusal({ code: 'not_held_by_screening', id });
    }
    if (before.screening === verdict) throw new AdminRefusal({ code: 'nothing_to_change' });
    await decideRecipientScreening(tx, id, verdict);
    const resolution = `${verdict === 'clear' ? 'Allowed' : 'Blocked'} by ${by.actor}: ${by.reason ?? ''}`;
    for (const kind of ['recipient_review', 'recipient_blocked'] as const) {
      await resolveOpenCase(tx, kind, id, resolution);
    }
    const result = present(before, verdict);
    return {
      result,
      audit: {
        action: 'recipient.screening_decide',
        object: 'recipient',
        objectId: id,
        accountId: before.accountId,
        before: present(before, before.screening),
        after: result,
      },
    };
  });
}

function present({ id, accountId }: Recipient, screening: Recipient['screening']) {
  return { id, object: 'recipient', account_id: accountId, screening };
}
