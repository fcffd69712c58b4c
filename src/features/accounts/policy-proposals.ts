/**
 * A policy that needs two people changes when one proposes the change and another one approves it: limits,
 * fees and review of an account in the console, and thresholds for two approvals everywhere. The admin
 * command changes limits, fees and review at once (decisions/controls#policy-proposals).
 *
 * A new kind is a member of PolicyWish, its topic and what `apply` does.
 */
import { appendAudit, type Snapshot } from '../../db/audit/audit-log';
import type { FeeScope } from '../../db/accounts/fee-rules';
import { replaceThreshold } from '../../db/accounts/four-eyes';
import {
  approveProposal,
  hasSecondAdmin,
  insertProposal,
  listProposals,
  lockProposal,
  type Proposal,
  rejectProposal,
} from '../../db/accounts/policy-proposals';
import { areRelatedOperators } from '../../db/approvals/related-operators';
import type { Db, Tx } from '../../db/transaction';
import type { Amount } from '../../domain/money';
import { newId } from '../../platform/lib/new-id';
import type { AuditedObject, ChangedBy } from '../../kit/service/audit';
import { checkCurrency } from '../../kit/service/checks';
import { changePolicy, type MaximaInput, setLimits } from './limits';
import { AdminRefusal } from '../../kit/service/refusal';
import { switchReview } from './review';
import { endFee, type FeeTermsInput, setFee } from './fees';

type FeeOf = Omit<FeeScope, 'accountId'>;

/** The texts are those of the forms and of the admin command. */
export type AccountWish =
  | { kind: 'limits'; currency: string; maxima: MaximaInput }
  | { kind: 'review'; reviewAll: boolean; rehearse: boolean }
  | { kind: 'fee'; scope: FeeOf; terms: FeeTermsInput }
  | { kind: 'fee_end'; scope: FeeOf };

/** A null amount removes the threshold. */
type ThresholdWish = { kind: 'threshold'; currency: string; amount: Amount | null };

type PolicyWish = AccountWish | ThresholdWish;

/** What a proposal changes: an account's policy, or one of the whole gateway. */
type Proposed = { accountId: string; wish: AccountWish } | { accountId: null; wish: ThresholdWish };

export type PolicyProposal = Proposal<PolicyWish> & Proposed;

export function createPolicyProposals(db: Db) {
  return {
    /** The open proposals about one account, or about all accounts when it is null, oldest first. */
    list: (accountId: string | null) => listProposals(db, accountId) as Promise<PolicyProposal[]>,
    propose: (by: ChangedBy & { reason: string }, accountId: string, wish: AccountWish) =>
      db.transaction((tx) => propose(tx, by, { accountId, wish })),
    approve: (by: ChangedBy, id: string) => db.transaction((tx) => approve(tx, by, id)),
    reject: (by: ChangedBy, id: string) => db.transaction((tx) => reject(tx, by, id)),
    hasSecondAdmin: () => hasSecondAdmin(db),
  };
}

/** Replaces an open proposal about the same policy. @throws AdminRefusal, InvalidInput */
export async function propose(tx: Tx, by: ChangedBy, proposed: Proposed): Promise<void> {
  const { before, after } = await tryChange(tx, by, proposed);
  if (after === null || JSON.stringify(before) === JSON.stringify(after)) {
    throw new AdminRefusal({ code: 'nothing_to_change' });
  }
  const proposal = {
    ...proposed,
    id: newId('proposal'),
    topic: topicOf(proposed.wish),
    before,
    after,
    reason: by.reason,
    proposedBy: by.actor,
  };
  await insertProposal<PolicyWish>(tx, proposal);
  await note(tx, by, 'propose', proposal);
}

/**
 * Applies the proposal of somebody else.
 * @returns the account. @throws AdminRefusal, InvalidInput
 */
export async function approve(tx: Tx, by: ChangedBy, id: string): Promise<string | null> {
  const proposal = await requireProposal(tx, id);
  const { accountId, proposedBy, reason } = proposal;
  if (proposedBy.toLowerCase() === by.actor.toLowerCase()) {
    throw new AdminRefusal({ code: 'own_proposal', actor: by.actor });
  }
  if (await areRelatedOperators(tx, proposedBy, by.actor)) {
    throw new AdminRefusal({ code: 'related_operator', other: proposedBy });
  }
  const audit = await apply(tx, by, proposal);
  if (!(await approveProposal(tx, id, by.actor, audit.before))) {
    throw new AdminRefusal({ code: 'proposal_outdated' });
  }
  const after = { ...audit.after, proposed_by: proposedBy };
  await appendAudit(tx, { ...by, ...audit, after, reason: by.reason ?? reason });
  return accountId;
}

/** Rejects a proposal; whoever proposed it withdraws it. @returns the account. @throws AdminRefusal */
export async function reject(tx: Tx, by: ChangedBy, id: string): Promise<string | null> {
  const proposal = await requireProposal(tx, id);
  await rejectProposal(tx, id, by.actor);
  await note(tx, by, 'reject', proposal);
  return proposal.accountId;
}

async function requireProposal(tx: Tx, id: string): Promise<PolicyProposal> {
  const proposal = await lockProposal<PolicyWish>(tx, id);
  if (proposal === null) throw new AdminRefusal({ code: 'proposal_ended' });
  return proposal as PolicyProposal;
}

/** Makes the change with all its checks and rolls it back, to learn the values that it would set. */
async function tryChange(tx: Tx, by: ChangedBy, proposed: Proposed): Promise<AuditedObject> {
  await tx.query('SAVEPOINT tried');
  const audit = await apply(tx, by, proposed);
  await tx.query('ROLLBACK TO SAVEPOINT tried');
  return audit;
}

async function apply(tx: Tx, by: ChangedBy, { accountId, wish }: Proposed): Promise<AuditedObject> {
  switch (wish.kind) {
    case 'limits': {
      const scope = { accountId, currency: wish.currency };
      const { audit } = await changePolicy(tx, scope, wish.maxima);
      return { action: setLimits.action, ...audit };
    }
    case 'review': {
      const switches = { reviewAll: onOff(wish.reviewAll), rehearse: onOff(wish.rehearse) };
      const { audit } = await switchReview.apply(tx, by, accountId, switches);
      return { ...audit, before: switchesOf(audit.before), after: switchesOf(audit.after) };
    }
    case 'fee': {
      const rule = { scope: { accountId, ...wish.scope }, from: null, until: null };
      return (await setFee.apply(tx, by, rule, wish.terms)).audit;
    }
    case 'fee_end':
      return (await endFee.apply(tx, by, { scope: { accountId, ...wish.scope }, at: null }, {}))
        .audit;
    case 'threshold': {
      const { currency, amount } = wish;
      await checkCurrency(tx, currency);
      const before = await replaceThreshold(tx, currency, amount);
      return {
        action: 'four_eyes.confirm',
        object: 'four_eyes_threshold',
        objectId: currency,
        accountId: null,
        before: { currency, above: before },
        after: { currency, above: amount },
      };
    }
  }
}

function onOff(isOn: boolean): 'on' | 'off' {
  return isOn ? 'on' : 'off';
}

/** A verification or suspension of the account in the meantime does not outdate a proposal. */
function switchesOf(account: Snapshot): Snapshot {
  if (account === null || !('review_all' in account) || !('rehearse_review' in account))
    return null;
  const { review_all, rehearse_review } = account;
  return { review_all, rehearse_review };
}

/** A fee and its end are about the same rule. */
function topicOf(wish: PolicyWish): string {
  switch (wish.kind) {
    case 'limits':
      return `limits ${wish.currency}`;
    case 'review':
      return 'review';
    case 'fee':
    case 'fee_end': {
      const { direction, provider, currency } = wish.scope;
      return `fee ${direction} ${provider} ${currency}`;
    }
    case 'threshold':
      return `threshold ${wish.currency}`;
  }
}

/** The audit log has a threshold's proposal under its currency, so that its history is in one place. */
function note(
  tx: Tx,
  by: ChangedBy,
  verb: 'propose' | 'reject',
  proposal: Pick<PolicyProposal, 'id' | 'topic' | 'before' | 'after' | 'accountId' | 'wish'>,
): Promise<void> {
  const { id, accountId, topic, wish, before, after } = proposal;
  const entry =
    wish.kind === 'threshold'
      ? {
          action: verb === 'propose' ? 'four_eyes.propose' : 'four_eyes.withdraw',
          object: 'four_eyes_threshold',
          objectId: wish.currency,
        }
      : { action: `policy.${verb}`, object: 'policy_proposal', objectId: id };
  return appendAudit(tx, {
    ...by,
    ...entry,
    accountId,
    before: { topic, ...before },
    after: { topic, ...after },
  });
}
