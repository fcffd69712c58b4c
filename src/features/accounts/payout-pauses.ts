/**
 * Pauses of payouts (decisions/controls#payout-pauses): all payouts, one provider or one account. Several can hold
 * the same payouts, and each is lifted by its id.
 */
import {
  deletePause,
  insertPause,
  listPauses,
  type PauseScope,
} from '../../db/accounts/payout-pauses';
import type { Db } from '../../db/transaction';
import type { Mode } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import { presentPause } from '../../kit/service/admin';
import { requireAccount } from './accounts';
import { AdminRefusal } from '../../kit/service/refusal';
import { defineChange, Text } from '../../kit/service/change';

export { listPauses } from '../../db/accounts/payout-pauses';

/** The most pauses that a page shows. */
const SHOWN_MAX = 100;

/** The oldest first. */
export function listShownPauses(db: Db) {
  return listPauses(db, SHOWN_MAX);
}

/** The payouts that a pause applies to; a mode of null is both. */
export type PausedPayouts = (
  | { scope: 'global'; target: '' }
  | { scope: 'provider'; target: ProviderCode }
  | { scope: 'account'; target: string }
) & { mode: Mode | null };

const access = { needs: 'administer' } as const;

/**
 * New payouts get 503, and approved ones wait before submission. No merchant sees the reason.
 * @throws AdminRefusal when the same person has paused it for the same reason
 */
export const pausePayouts = defineChange({
  action: 'payouts.pause',
  access,
  fields: {
    reason: Text(255, { label: 'Reason', hint: 'It is kept in the audit log' }),
  },
  run: async (tx, what: PausedPayouts, { reason }, by) => {
    if (what.scope === 'account') await requireAccount(tx, what.target);
    const pause = await insertPause(tx, { ...what, reason, createdBy: by.actor });
    if (pause === null) throw new AdminRefusal({ code: 'payouts_already_paused' });
    return {
      result: pause,
      audit: { ...objectOf(pause), before: null, after: presentPause(pause) },
    };
  },
});

interface OnePause {
  id: string;
  /** Wakes the payouts that were held; if it fails, the schedule `restart-missing` wakes them. */
  wakeHeld: () => Promise<void>;
}

/** The result is the pause that was lifted. @throws AdminRefusal when there is none with this id */
export const resumePayouts = defineChange({
  action: 'payouts.resume',
  access,
  fields: {},
  run: async (tx, { id }: OnePause) => {
    const pause = await deletePause(tx, id);
    if (pause === null) throw new AdminRefusal({ code: 'pause_not_found', id });
    return {
      result: pause,
      audit: { ...objectOf(pause), before: presentPause(pause), after: null },
    };
  },
  after: (_, { wakeHeld }) => wakeHeld().catch(() => undefined),
});

/** The object of the audit row is what is paused; the pause itself is in `before` or `after`. */
function objectOf({ scope, target }: PauseScope) {
  return {
    object: 'payout_pause',
    objectId: scope === 'global' ? 'global' : target,
    accountId: scope === 'account' ? target : null,
  };
}
