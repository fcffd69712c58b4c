/**
 * What an operator decides about a live recipient that the screening holds or has blocked
 * (decisions/controls#screening).
 */
import { resolveOpenCase } from '../../db/cases/cases';
import { decideRecipientScreening, lockRecipientForOperator } from '../../db/recipients/recipients';
import type { Recipient } from '../../domain/recipient';
import { AdminRefusal } from '../../kit/service/refusal';
import { Choice, defineChange } from '../../kit/service/change';

export interface HeldRecipient {
  id: string;
  /** The `destinationVersion` that the operator saw; null if whatever it has. */
  seen: string | null;
}

/** Payouts that wait for it are woken by the schedule `restart-missing`. @throws AdminRefusal */
export const decideRecipient = defineChange({
  action: 'recipient.screening_decide',
  access: { needs: 'review' },
  fields: {
    verdict: Choice(
      [
        ['clear', 'It may be paid'],
        ['block', 'It may not be paid'],
      ],
      { label: 'Decision' },
    ),
  },
  run: async (tx, { id, seen }: HeldRecipient, { verdict }, by) => {
    const before = await lockRecipientForOperator(tx, id);
    if (before === null) throw new AdminRefusal({ code: 'not_found', object: 'recipient', id });
    if (seen !== null && seen !== before.destinationVersion) {
      throw new AdminRefusal({ code: 'screening_changed', id });
    }
    if (!isHeld(before)) throw new AdminRefusal({ code: 'not_held_by_screening', id });
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
        object: 'recipient',
        objectId: id,
        accountId: before.accountId,
        before: present(before, before.screening),
        after: result,
      },
    };
  },
});

/** Whether the screening holds or blocks the recipient, so that an operator may decide. */
export function isHeld({ screening, deletedAt }: Recipient): boolean {
  return deletedAt === null && (screening === 'review' || screening === 'block');
}

function present({ id, accountId }: Recipient, screening: Recipient['screening']) {
  return { id, object: 'recipient', account_id: accountId, screening };
}
