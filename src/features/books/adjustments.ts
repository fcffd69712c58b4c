/**
 * Adjustments of a balance by an operator (decisions/money#ledger): a balanced posting with a reason, never a
 * change of entries. The operation's id makes it safe to retry: it posts once.
 */
import { appendAudit } from '../../db/audit/audit-log';
import { findAdjustment, post, type BalanceKey } from '../../db/ledger/ledger';
import type { Db } from '../../db/transaction';
import { isId } from '../../domain/ids';
import { adjustmentPosting } from '../../domain/ledger';
import { type Amount } from '../../domain/money';
import { requireAccount } from '../accounts/accounts';
import type { ChangedBy } from '../../kit/service/audit';
import { checkCurrency, checkReason, positiveAmount } from '../../kit/service/checks';
import { AdminRefusal, InvalidInput, type PostedAmount } from '../../kit/service/refusal';

export interface AdjustmentInput extends BalanceKey {
  /** `adj_…`, chosen by the caller before the first attempt. */
  id: string;
  direction: 'in' | 'out';
  /** A decimal, such as `12.5`. */
  amount: string;
}

interface Adjustment extends PostedAmount {
  id: string;
}

export interface AdjustmentResult extends Adjustment {
  /** Whether an earlier attempt had posted it, so that nothing moved this time. */
  replayed: boolean;
  /** The balance after the adjustment; for a replay, the current balance. */
  available: Amount;
  reserved: Amount;
}

/**
 * @throws InvalidInput; AdminRefusal when the balance does not cover it, or the id belongs to
 *   another adjustment
 */
export async function createAdjustment(
  db: Db,
  by: ChangedBy & { reason: string },
  input: AdjustmentInput,
): Promise<AdjustmentResult> {
  const adjustment = await readInput(db, by.reason, input);
  const earlier = await replay(db, adjustment);
  if (earlier !== null) return earlier;
  const outcome = await postOnce(db, by, adjustment);
  const { available, reserved } = outcome;
  if (outcome.kind === 'posted') return { ...adjustment, replayed: false, available, reserved };
  if (outcome.kind === 'insufficient') {
    const { amount, currency, mode, accountId } = adjustment;
    const needed = { accountId, mode, currency, amount };
    throw new AdminRefusal({ code: 'insufficient_balance', ...needed, available, reserved });
  }
  const other = await replay(db, adjustment);
  if (other === null) throw new Error(`adjustment ${adjustment.id} was posted but cannot be found`);
  return other;
}

async function readInput(db: Db, reason: string, input: AdjustmentInput): Promise<Adjustment> {
  const { id, accountId, mode, currency, direction } = input;
  if (!isId('adjustment', id)) {
    throw new InvalidInput('operationId', { code: 'not_an_adjustment_id', value: id });
  }
  const amount = positiveAmount('amount', input.amount);
  await checkCurrency(db, currency);
  await requireAccount(db, accountId);
  return {
    id,
    accountId,
    mode,
    currency,
    direction,
    amount,
    // The merchant sees it in the list of transactions.
    reason: checkReason(reason),
  };
}

/** The posting of an earlier attempt, or null. @throws AdminRefusal if it was a different one */
async function replay(db: Db, adjustment: Adjustment): Promise<AdjustmentResult | null> {
  const earlier = await findAdjustment(db, adjustment.id);
  if (earlier === null) return null;
  const members = ['accountId', 'mode', 'currency', 'direction', 'amount', 'reason'] as const;
  if (members.every((name) => earlier[name] === adjustment[name])) {
    const { available, reserved } = earlier;
    return { ...adjustment, replayed: true, available, reserved };
  }
  throw new AdminRefusal({ code: 'operation_id_taken', id: adjustment.id, earlier });
}

type Outcome = {
  kind: 'posted' | 'insufficient' | 'replayed';
  available: Amount;
  reserved: Amount;
};

/** Rolls the transaction back: the audit row is written before the posting. */
class NotPosted extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.kind);
    this.outcome = outcome;
  }
}

async function postOnce(db: Db, by: ChangedBy, adjustment: Adjustment): Promise<Outcome> {
  const { id, accountId, mode, currency, direction, amount, reason } = adjustment;
  try {
    return await db.transaction(async (tx) => {
      await appendAudit(tx, {
        ...by,
        action: 'adjustment.create',
        object: 'adjustment',
        objectId: id,
        accountId,
        before: null,
        after: { id, account_id: accountId, mode, currency, direction, amount },
      });
      // The posting is last in the transaction, because the balance is locked from here to COMMIT.
      const posting = adjustmentPosting({ id, direction, amount, reason });
      const { outcome, ...balance } = await post(tx, { accountId, mode, currency }, posting);
      if (outcome !== 'posted') throw new NotPosted({ kind: outcome, ...balance });
      return { kind: outcome, ...balance };
    });
  } catch (error) {
    if (error instanceof NotPosted) return error.outcome;
    // The ledger refuses an id that another adjustment has taken meanwhile.
    await replay(db, adjustment);
    throw error;
  }
}
