/** Pauses of payouts (decision O11): all payouts, one provider or one account. */
import {
  deletePause,
  insertPause,
  lockPause,
  type Pause,
} from '../../db/repositories/payout-pauses';
import type { Db } from '../../db/transaction';
import type { ProviderCode } from '../../domain/provider-codes';
import { presentPause } from '../../presenters/admin';
import { requireAccount } from './accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './audit';
import { checkText } from './checks';
import { AdminRefusal } from './refusal';

export { listPauses } from '../../db/repositories/payout-pauses';

const REASON_LENGTH_MAX = 255;

/** The payouts that a pause applies to. */
export type PausedPayouts =
  | { scope: 'global'; target: '' }
  | { scope: 'provider'; target: ProviderCode }
  | { scope: 'account'; target: string };

/**
 * New payouts get 503, and approved ones wait before submission. No merchant sees the reason.
 * @throws InvalidInput, and AdminRefusal when it is already paused
 */
export async function pausePayouts(
  db: Db,
  by: ChangedBy & { reason: string },
  what: PausedPayouts,
): Promise<Pause> {
  const reason = checkText('reason', by.reason, REASON_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    if (what.scope === 'account') await requireAccount(tx, what.target);
    const earlier = await lockPause(tx, what);
    if (earlier !== null)
      throw new AdminRefusal({ code: 'payouts_already_paused', pause: earlier });
    const pause = await insertPause(tx, { ...what, reason });
    const states = { before: null, after: presentPause(pause) };
    return { result: pause, audit: auditOf('payouts.pause', what, states) };
  });
}

/**
 * @param wakeHeld wakes the payouts that were held; if it fails, the schedule `restart-missing`
 *   wakes them
 * @returns the pause that was lifted. @throws AdminRefusal when they were not paused
 */
export async function resumePayouts(
  db: Db,
  by: ChangedBy,
  what: PausedPayouts,
  wakeHeld: () => Promise<void>,
): Promise<Pause> {
  const lifted = await liftPause(db, by, what);
  await wakeHeld().catch(() => undefined);
  return lifted;
}

async function liftPause(db: Db, by: ChangedBy, what: PausedPayouts): Promise<Pause> {
  return makeChange(db, by, async (tx) => {
    const pause = await lockPause(tx, what);
    if (pause === null) throw new AdminRefusal({ code: 'payouts_not_paused', scope: what });
    await deletePause(tx, what);
    const states = { before: presentPause(pause), after: null };
    return { result: pause, audit: auditOf('payouts.resume', what, states) };
  });
}

function auditOf(
  action: string,
  { scope, target }: PausedPayouts,
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
