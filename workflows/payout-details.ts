/** What an operator reads on the workflow's page: the state, why it waits, what to type. */
import type { PayoutStatus } from '../src/domain/payout';
import { code, list, signalLine } from './details';
import type { PayoutState } from './messages';

const MEANING: Record<PayoutStatus, string> = {
  requested: 'The funds are reserved. It approves itself soon; until then it can be stopped.',
  under_review: 'The funds are reserved. It waits for an operator.',
  approved: 'It is on its way to the provider.',
  processing: 'The provider has it.',
  completed: 'Sent. The balance was debited.',
  rejected: 'An operator rejected it. The funds were returned.',
  failed: 'The provider could not send it. The funds were returned.',
  cancelled: 'The merchant cancelled it. The funds were returned.',
};

const REASONS: Record<string, string> = {
  rehearse_review: 'the account rehearses reviews in test mode',
  review_all: 'every live payout of this account is reviewed',
  above_auto_approve_max: 'the amount is above the limit for automatic approval',
  above_auto_approve_daily_max: "the day's automatic approvals are used up",
  first_use_of_destination: 'the destination was never paid before',
  email_destination: 'the destination is an e-mail address',
  new_api_key: 'the API key is younger than 24 hours',
};

/** @returns Markdown */
export function describePayout(
  payoutId: string,
  state: PayoutState,
  notes: readonly string[],
): string {
  return [
    `**${state.status.replaceAll('_', ' ')}** · ${state.amount} ${state.currency}`,
    MEANING[state.status],
    ...attention(state),
    ...(state.wait === null ? [] : [`It ${state.wait.why}.`]),
    ...list('Remarks:', notes),
    ...commands(payoutId, state),
    ...review(state),
  ].join('\n\n');
}

function attention({ attentionLevel }: PayoutState): string[] {
  return attentionLevel === 0 ? [] : [`**Needs attention** (level ${attentionLevel} of 3).`];
}

function review({ status, reviewReasons }: PayoutState): string[] {
  if (status !== 'under_review') return [];
  return list(
    'It is reviewed because',
    reviewReasons.map((reason) => REASONS[reason] ?? reason),
  );
}

function commands(payoutId: string, { status, wait }: PayoutState): string[] {
  const approve = signalLine(payoutId, 'approve', { by: 'you' });
  const reject = signalLine(payoutId, 'reject', { by: 'you', reason: 'why' });
  if (status === 'requested' || status === 'under_review') return [code(approve), code(reject)];
  return status === 'approved' && wait !== null ? [code(reject)] : [];
}
