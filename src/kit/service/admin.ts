/**
 * The gateway's objects as an operator sees them: the JSON of the admin command, and the states
 * before and after in the audit log. They contain no secrets or hashes.
 */
import type { Account } from '../../db/accounts/accounts';
import type { AuditEntry } from '../../db/audit/audit-log';
import type { Case } from '../../db/cases/cases';
import type { FeeRuleVersion } from '../../db/accounts/fee-rules';
import type { ScreeningSource } from '../../db/screening/screening';
import type { Pause } from '../../db/accounts/payout-pauses';
import type { User } from '../../db/people/users';
import type { Payout } from '../../domain/payout';
import { conditionWords } from '../../domain/payout-condition';
import { presentPayout } from '../../features/payouts/payouts-contract';

export function presentAccount(account: Account) {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    status: account.status,
    verified_at: account.verifiedAt?.toISOString() ?? null,
    review_all: account.reviewAll,
    rehearse_review: account.rehearseReview,
    created_at: account.createdAt.toISOString(),
  };
}

export function presentUser(user: User) {
  return {
    id: user.id,
    object: 'user',
    kind: user.kind,
    email: user.email,
    operator_role: user.operatorRole,
    bound_account_id: user.boundAccountId,
    disabled_at: user.disabledAt?.toISOString() ?? null,
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    created_at: user.createdAt.toISOString(),
  };
}

export function presentFeeRuleVersion(rule: FeeRuleVersion) {
  return {
    id: rule.id,
    object: 'fee_rule',
    account_id: rule.accountId,
    direction: rule.direction,
    provider: rule.provider,
    currency: rule.currency,
    percentage: rule.percentage,
    fixed_amount: rule.fixedAmount,
    min_fee: rule.minFee,
    max_fee: rule.maxFee,
    valid_from: rule.validFrom.toISOString(),
    valid_until: rule.validUntil?.toISOString() ?? null,
  };
}

export function presentPause({ id, scope, target, mode, reason, createdBy, createdAt }: Pause) {
  return {
    id,
    object: 'payout_pause',
    scope,
    target: target === '' ? null : target,
    mode,
    reason,
    created_by: createdBy,
    created_at: createdAt.toISOString(),
  };
}

export function presentCase(found: Case) {
  return {
    id: found.id,
    object: 'case',
    kind: found.kind,
    object_id: found.objectId,
    details: found.details,
    facts: found.facts.length,
    created_at: found.createdAt.toISOString(),
    resolved_at: found.resolvedAt?.toISOString() ?? null,
    resolution: found.resolution,
  };
}

/** A payout with what each of its conditions waits for. */
export function presentPayoutForOperator(payout: Payout) {
  const { release: _release, ...shown } = presentPayout(payout);
  return {
    ...shown,
    account_id: payout.accountId,
    review_reasons: payout.reviewReasons,
    decided_by: payout.decidedBy,
    release_expires_at: payout.releaseExpiresAt?.toISOString() ?? null,
    released_at: payout.releasedAt?.toISOString() ?? null,
    conditions: (payout.conditions ?? []).map((condition) => ({
      type: condition.kind,
      waits_for: conditionWords(condition),
      met_at: condition.metAt === null ? null : new Date(condition.metAt).toISOString(),
    })),
  };
}

export function presentScreeningSource(source: ScreeningSource) {
  return {
    object: 'screening_source',
    name: source.name,
    // The service says itself what a match means.
    verdict: source.verdict,
    entries: source.entryCount,
    format: source.format,
    published: source.published,
    sha256: source.sha256,
    version: source.version,
    changed_at: source.changedAt.toISOString(),
  };
}

export function presentAuditEntry(entry: AuditEntry) {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    by: entry.actor,
    via: entry.via,
    address: entry.address,
    action: entry.action,
    object: entry.object,
    object_id: entry.objectId,
    account_id: entry.accountId,
    before: entry.before,
    after: entry.after,
    reason: entry.reason,
  };
}
