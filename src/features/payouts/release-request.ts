/** The conditions that a payout request names: whether they can ever be met (decisions/payouts#payout-conditions). */
import { readConditionFacts, type ConditionFacts } from '../../db/payouts/payout-conditions';
import type { Db } from '../../db/transaction';
import { type FieldError, validationFailed } from '../../domain/errors';
import { RELEASE_AHEAD_MS_MAX, type ReleaseRequest } from '../../domain/payout-condition';
import type { Caller } from '../../kit/service/services';

/** @throws ApiError validation_failed with every condition that cannot be met */
export async function checkRelease(
  db: Db,
  caller: Caller,
  release: ReleaseRequest | undefined,
): Promise<void> {
  if (release === undefined) return;
  const facts = await readConditionFacts(db, caller, release);
  const errors = [
    ...timeErrors(release, facts.now),
    ...paymentErrors(release, facts),
    ...keyErrors(caller, release, facts),
  ];
  if (errors.length > 0) throw validationFailed(errors);
}

function timeErrors({ at, expiresAt }: ReleaseRequest, now: Date): FieldError[] {
  const latest = now.getTime() + RELEASE_AHEAD_MS_MAX;
  const outside = (field: string, time: string | null): FieldError[] => {
    if (time === null) return [];
    const ms = new Date(time).getTime();
    if (ms > now.getTime() && ms <= latest) return [];
    const message = `Send ${field} as a time in the future, at most one year ahead.`;
    return [{ field, rule: 'out_of_range', message }];
  };
  const errors = [...outside('release.at', at), ...outside('release.expires_at', expiresAt)];
  if (errors.length > 0 || at === null || expiresAt === null || expiresAt > at) return errors;
  const message = 'Send release.expires_at as a time after release.at.';
  return [{ field: 'release.expires_at', rule: 'out_of_range', message }];
}

function paymentErrors(
  { afterPayment }: ReleaseRequest,
  { payment }: ConditionFacts,
): FieldError[] {
  const field = 'release.after_payment';
  if (afterPayment === null) return [];
  if (payment === null) {
    const message = 'Send release.after_payment as the ID of one of your payments in this mode.';
    return [{ field, rule: 'not_found', message }];
  }
  if (payment.isRefunded) {
    const message = 'This payment was refunded, or its refund is under way. Name another one.';
    return [{ field, rule: 'unsupported', message }];
  }
  if (payment.mayComplete) return [];
  const message = `This payment is ${payment.status} and can no longer be completed. Name another one.`;
  return [{ field, rule: 'unsupported', message }];
}

function keyErrors(
  { apiKeyId }: Caller,
  { approvalByKey }: ReleaseRequest,
  { hasKey }: ConditionFacts,
): FieldError[] {
  const field = 'release.approval_by_key';
  if (approvalByKey === null) return [];
  if (approvalByKey === apiKeyId) {
    const message = 'Send release.approval_by_key as another API key than that of this request.';
    return [{ field, rule: 'unsupported', message }];
  }
  if (hasKey) return [];
  const message =
    'Send release.approval_by_key as the ID of an active API key of your account in this mode with the scope payouts:write.';
  return [{ field, rule: 'not_found', message }];
}
