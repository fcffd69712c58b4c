/** The operator's pause of payouts (decision O11): everything, one provider or one account. */
import {
  deletePause,
  insertPause,
  listPauses as readPauses,
  lockPause,
  type Pause,
  type PauseScope,
} from '../../db/repositories/payout-pauses';
import type { Db, Tx } from '../../db/transaction';
import { requireAccount } from './accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './change';
import { checkProvider, checkText } from './checks';
import { AdminRefusal } from './refusal';

const REASON_LENGTH_MAX = 255;

export function presentPause({ scope, target, reason, createdAt }: Pause) {
  return {
    object: 'payout_pause',
    scope,
    target: target === '' ? null : target,
    reason,
    created_at: createdAt.toISOString(),
  };
}

export type ShownPause = ReturnType<typeof presentPause>;

export async function listPauses(db: Db): Promise<ShownPause[]> {
  return (await readPauses(db)).map(presentPause);
}

/**
 * New payouts get 503, approved ones wait before submission. The reason is the operator's own; no
 * merchant sees it.
 * @throws InvalidInput, and AdminRefusal when it is paused already
 */
export async function pausePayouts(
  db: Db,
  by: ChangedBy & { reason: string },
  what: PauseScope,
): Promise<ShownPause> {
  const reason = checkText('reason', by.reason, REASON_LENGTH_MAX);
  return makeChange(db, by, async (tx) => {
    await checkTarget(tx, what);
    const present = await lockPause(tx, what);
    if (present !== null) {
      throw new AdminRefusal(
        `${nameOf(what)} is paused since ${present.createdAt.toISOString()}: ${present.reason}`,
      );
    }
    const pause = presentPause(await insertPause(tx, { ...what, reason }));
    return { result: pause, audit: auditOf('payouts.pause', what, { before: null, after: pause }) };
  });
}

/** @returns the pause that was lifted. @throws AdminRefusal when there was none */
export async function resumePayouts(db: Db, by: ChangedBy, what: PauseScope): Promise<ShownPause> {
  return makeChange(db, by, async (tx) => {
    const present = await lockPause(tx, what);
    if (present === null) {
      throw new AdminRefusal(
        `${nameOf(what)} is not paused: \`payouts pauses\` shows what is, each pause by itself.`,
      );
    }
    await deletePause(tx, what);
    const pause = presentPause(present);
    return {
      result: pause,
      audit: auditOf('payouts.resume', what, { before: pause, after: null }),
    };
  });
}

async function checkTarget(tx: Tx, { scope, target }: PauseScope): Promise<void> {
  if (scope === 'provider') checkProvider(target);
  if (scope === 'account') await requireAccount(tx, target);
}

function nameOf({ scope, target }: PauseScope): string {
  return scope === 'global' ? 'Everything' : `The ${scope} ${target}`;
}

function auditOf(
  action: string,
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
