/**
 * Around all activities: after one that worked on a payout or a payment, whatever came of it, the
 * object's new deliveries get their workflows. The activities themselves know nothing of webhooks.
 */
import { isId } from '../src/domain/ids';

type Activity = (...args: never[]) => Promise<unknown>;

export function announceChanges<T extends Record<string, Activity>>(
  activities: T,
  notice: (objectId: string) => void,
): T {
  const wrapped = Object.entries(activities).map(([name, activity]) => {
    const run = async (...args: never[]): Promise<unknown> => {
      try {
        return await activity(...args);
      } finally {
        // Also after a failure: it may have come after a commit.
        const objectId = objectIdOf(args[0]);
        if (objectId !== null) notice(objectId);
      }
    };
    return [name, run] as const;
  });
  return Object.fromEntries(wrapped) as T;
}

/** Every activity takes its object's id first, by itself or as a member of its input. */
function objectIdOf(first: unknown): string | null {
  if (typeof first === 'string') return isObjectId(first) ? first : null;
  if (typeof first !== 'object' || first === null) return null;
  const { payoutId, paymentId } = first as { payoutId?: unknown; paymentId?: unknown };
  const id = payoutId ?? paymentId;
  return typeof id === 'string' && isObjectId(id) ? id : null;
}

function isObjectId(text: string): boolean {
  return isId('payout', text) || isId('payment', text);
}
