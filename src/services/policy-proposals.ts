/**
 * Limits, fees and review of an account change in the console when one admin has proposed the change and
 * another one approves it. The admin command changes them at once.
 */
import {
  approveProposal,
  hasSecondAdmin,
  insertProposal,
  listProposals,
  lockProposal,
  type Proposal,
  rejectProposal,
} from '../db/repositories/policy-proposals';
import { areRelatedOperators } from '../db/repositories/related-operators';
import { appendAudit, type Snapshot } from '../db/repositories/audit-log';
import type { FeeScope } from '../db/repositories/fee-rules';
import { inTransaction, rows, type Db, type Tx } from '../db/transaction';
import { newId } from '../lib/new-id';
import type { AuditedObject, ChangedBy } from './admin/audit';
import { applyFee, applyFeeEnd, type FeeTermsInput } from './admin/fees';
import { auditOfPolicy, changePolicy, type MaximaInput } from './admin/limits';
import { AdminRefusal } from './admin/refusal';
import { applyReview } from './admin/review';

type FeeOf = Omit<FeeScope, 'accountId'>;

/** As text, as the forms and the admin command have it. */
export type PolicyWish =
  | { kind: 'limits'; currency: string; maxima: MaximaInput }
  | { kind: 'review'; reviewAll: boolean; rehearse: boolean }
  | { kind: 'fee'; scope: FeeOf; terms: FeeTermsInput }
  | { kind: 'fee_end'; scope: FeeOf };

export type PolicyProposal = Proposal<PolicyWish>;

/** @throws AdminRefusal, InvalidInput */
export interface PolicyProposals {
  /** Of one account, or null: of all. At most 50, the oldest first. */
  list: (accountId: string | null) => Promise<PolicyProposal[]>;
  /** Takes the place of an open proposal about the same. */
  propose: (
    by: ChangedBy & { reason: string },
    accountId: string,
    wish: PolicyWish,
  ) => Promise<void>;
  /** Not one's own. @returns the account */
  approve: (by: ChangedBy, id: string) => Promise<string>;
  /** One's own is withdrawn. @returns the account */
  reject: (by: ChangedBy, id: string) => Promise<string>;
  hasSecondAdmin: () => Promise<boolean>;
}

export function createPolicyProposals(db: Db): PolicyProposals {
  return {
    list: (accountId) => listProposals<PolicyWish>(db, accountId),
    propose: (by, accountId, wish) =>
      inTransaction(db, async (tx) => {
        const { before, after } = await tryChange(tx, accountId, wish);
        if (after === null || JSON.stringify(before) === JSON.stringify(after)) {
          throw new AdminRefusal({ code: 'nothing_to_change' });
        }
        const proposal = {
          id: newId('proposal'),
          accountId,
          topic: topicOf(wish),
          wish,
          before,
          after,
          reason: by.reason,
          proposedBy: by.actor,
        };
        await insertProposal(tx, proposal);
        await note(tx, by, 'policy.propose', proposal);
      }),
    approve: (by, id) =>
      inTransaction(db, async (tx) => {
        const proposal = await requireProposal(tx, id);
        const { accountId, wish, proposedBy, reason } = proposal;
        if (proposedBy.toLowerCase() === by.actor.toLowerCase()) {
          throw new AdminRefusal({ code: 'own_proposal', actor: by.actor });
        }
        if (await areRelatedOperators(tx, proposedBy, by.actor)) {
          throw new AdminRefusal({ code: 'related_operator', other: proposedBy });
        }
        const audit = await apply(tx, accountId, wish);
        if (!(await approveProposal(tx, id, by.actor, audit.before))) {
          throw new AdminRefusal({ code: 'proposal_outdated' });
        }
        const after = { ...audit.after, proposed_by: proposedBy };
        await appendAudit(tx, { ...by, ...audit, after, reason });
        return accountId;
      }),
    reject: (by, id) =>
      inTransaction(db, async (tx) => {
        const proposal = await requireProposal(tx, id);
        await rejectProposal(tx, id, by.actor);
        await note(tx, by, 'policy.reject', proposal);
        return proposal.accountId;
      }),
    hasSecondAdmin: () => hasSecondAdmin(db),
  };
}

async function requireProposal(tx: Tx, id: string): Promise<PolicyProposal> {
  const proposal = await lockProposal<PolicyWish>(tx, id);
  if (proposal === null) throw new AdminRefusal({ code: 'proposal_ended' });
  return proposal;
}

/** The change with all its checks, undone: what the proposal would make of what is in force. */
async function tryChange(tx: Tx, accountId: string, wish: PolicyWish): Promise<AuditedObject> {
  await rows(tx, 'SAVEPOINT tried');
  const audit = await apply(tx, accountId, wish);
  await rows(tx, 'ROLLBACK TO SAVEPOINT tried');
  return audit;
}

async function apply(tx: Tx, accountId: string, wish: PolicyWish): Promise<AuditedObject> {
  switch (wish.kind) {
    case 'limits': {
      const scope = { accountId, currency: wish.currency };
      return auditOfPolicy('limits.set', scope, await changePolicy(tx, scope, wish.maxima));
    }
    case 'review': {
      const audit = await applyReview(tx, accountId, wish);
      return { ...audit, before: switchesOf(audit.before), after: switchesOf(audit.after) };
    }
    case 'fee': {
      const rule = { scope: { accountId, ...wish.scope }, terms: wish.terms };
      return (await applyFee(tx, { ...rule, from: null, until: null })).audit;
    }
    case 'fee_end':
      return (await applyFeeEnd(tx, { accountId, ...wish.scope }, null)).audit;
  }
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
  }
}

function note(
  tx: Tx,
  by: ChangedBy,
  action: string,
  {
    id,
    accountId,
    topic,
    before,
    after,
  }: Pick<PolicyProposal, 'id' | 'topic' | 'before' | 'after' | 'accountId'>,
): Promise<void> {
  const entry = { object: 'policy_proposal', objectId: id, accountId };
  return appendAudit(tx, {
    ...by,
    ...entry,
    action,
    before: { topic, ...before },
    after: { topic, ...after },
  });
}
