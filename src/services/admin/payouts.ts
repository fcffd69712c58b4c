/**
 * Pauses of payouts (decisions/payout-pauses): all payouts, one provider or one account. Several can hold
 * the same payouts, and each is lifted by its id.
 */
import {
  deletePause,
  insertPause,
  type Pause,
  type PauseScope,
} from '../../db/repositories/payout-pauses';
import type { Db } from '../../db/transaction';
import type { Mode } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import { presentPause } from '../../presenters/admin';
import { requireAccount } from '../accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './audit';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

export { listPauses } from '../../db/repositories/payout-pauses';

const REASON_LENGTH_MAX = 255;

/** The payouts that a pause applies to; a mode of null is both. */
export type PausedPayouts = (
  | { scope: 'global'; target: '' }
  | { scope: 'provider'; target: ProviderCode }
  | { scope: 'account'; target: string }
) & { mode: Mode | null };

/**
 * New payouts get 503, and approved ones wait before submission. No merchant sees the reason.
 * @throws InvalidInput, and AdminRefusal when the same person has paused it for the same reason
 */
export async function pausePayouts(
  db: Db,
  by: ChangedBy & { reason: string },
  what: PausedPayouts,
): Promise<Pause> {
  const reason = checkText('reason', by.reason, REASON_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    if (what.scope === 'account') await requireAccount(tx, what.target);
    const pause = await insertPause(tx, { ...what, reason, createdBy: by.actor });
    if (pause === null) throw new AdminRefusal({ code: 'payouts_already_paused' });
    const states = { before: null, after: presentPause(pause) };
    return { result: pause, audit: auditOfPause('payouts.pause', pause, states) };
  });
}

/**
 * @param wakeHeld wakes the payouts that were held; if it fails, the schedule `restart-missing`
 *   wakes them
 * @returns the pause that was lifted. @throws AdminRefusal when there is none with this id
 */
export async function resumePayouts(
  db: Db,
  by: ChangedBy,
  id: string,
  wakeHeld: () => Promise<void>,
): Promise<Pause> {
  const lifted = await liftPause(db, by, id);
  await wakeHeld().catch(() => undefined);
  return lifted;
}

async function liftPause(db: Db, by: ChangedBy, id: string): Promise<Pause> {
  return makeChange(db, by, async (tx) => {
    const pause = await deletePause(tx, id);
    if (pause === null) throw new AdminRefusal({ code: 'pause_not_found', id });
    const states = { before: presentPause(pause), after: null };
    return { result: pause, audit: auditOfPause('payouts.resume', pause, states) };
  });
}

/** The object of the audit row is what is paused; the pause itself is in `before` or `after`. */
export function auditOfPause(
  action: 'payouts.pause' | 'payouts.resume',
  { scope, target }: PauseScope,
  states: Pick<AuditedObject, 'before' | 'after'>,
): AuditedObject {
  return {
    action,
    object: 'payout_pause',
    objectId: scope === 'global' ? 'global' : target,
    accountId: scope === 'account' ? target : null,
    ...states,
  };
}
