/** The parts of pages on which an operator decides: the whole address, the wait, the reasons. */
import type { ComponentChildren } from 'preact';
import { isId } from '../../../domain/ids';
import type { Mode } from '../../../domain/mode';
import { add, type Amount, ZERO } from '../../../domain/money';
import { NEW_KEY_AGE_MS, reviewReasonSentence, type ReviewReason } from '../../../domain/review';
import { durationText } from '../../../kit/pages/since';
import type { ReviewedPayout } from '../payout-reviews';
import { Money } from '../../../kit/pages/components';
import { PREFIX } from '../../../kit/pages/operator-page';

const GROUP = /.{1,4}/gu;

/** The whole address in groups of four, which copying leaves out. A part that differs is marked. */
export function Address({ value, other }: { value: string; other?: string }) {
  const groups = value.match(GROUP) ?? [];
  const others = other?.match(GROUP);
  return (
    <code class="address">
      {groups.map((group, index) =>
        others == null || others[index] === group ? <span>{group}</span> : <mark>{group}</mark>,
      )}
    </code>
  );
}

export function ModeMark({ mode }: { mode: Mode }) {
  return <span class={`mode-mark ${mode}`}>{mode === 'live' ? 'Live' : 'Test'}</span>;
}

/** The first column of a list of payments or payouts: the amount, as a link to the object, and the mode. */
export function AmountLink({ href, amount, currency, mode }: AmountLinkProps) {
  return (
    <>
      <a href={href}>
        <Money amount={amount} currency={currency} />
      </a>
      <small>
        <ModeMark mode={mode} />
      </small>
    </>
  );
}

interface AmountLinkProps {
  href: string;
  amount: Amount;
  currency: string;
  mode: Mode;
}

/** The merchant's reference and the account that it belongs to. */
export function ReferenceOf({ reference, accountId, accountName }: ReferenceProps) {
  return (
    <>
      <span class="reference" title={reference}>
        {reference}
      </span>
      <small>
        <a href={`${PREFIX}/accounts/${accountId}`}>{accountName}</a>
      </small>
    </>
  );
}

interface ReferenceProps {
  reference: string;
  accountId: string;
  accountName: string;
}

const NEW_KEY_HOURS = NEW_KEY_AGE_MS / 3_600_000;

const REASON_CHIPS: Record<ReviewReason, string> = {
  rehearse_review: 'Rehearsal',
  review_all: 'Account reviewed',
  above_auto_approve_max: 'Above maximum',
  above_auto_approve_daily_max: 'Above 24 h maximum',
  first_use_of_destination: 'First destination',
  email_destination: 'Email destination',
  new_api_key: 'New key',
  above_four_eyes_threshold: 'Two approvals',
};

interface ReasonChipsProps {
  reasons: readonly ReviewReason[];
  /** The API key or the user. */
  requester: string;
}

/** The reasons in a word or two; the page of the payout has the figures. */
export function ReasonChips({ reasons, requester }: ReasonChipsProps) {
  if (reasons.length === 0) return null;
  return (
    <span class="chips">
      {reasons.map((reason) => (
        <span class="chip" title={reviewReasonSentence(reason, requester)}>
          {reason === 'new_api_key' && isId('user', requester) ? 'New user' : REASON_CHIPS[reason]}
        </span>
      ))}
    </span>
  );
}

/** Each rule with its figure and its limit. The limits are those of today. */
export function WhyReviewed({ payout }: { payout: ReviewedPayout }) {
  return (
    <ul class="why">
      {payout.reviewReasons.map((reason) => (
        <li>{explain(reason, payout)}</li>
      ))}
    </ul>
  );
}

function explain(reason: ReviewReason, payout: ReviewedPayout): ComponentChildren {
  const { amount, currency } = payout;
  const money = (value: string) => <Money amount={value} currency={currency} />;
  switch (reason) {
    case 'rehearse_review':
      return 'The account rehearses reviews in test mode';
    case 'review_all':
      return 'Every live payout of this account is reviewed';
    case 'above_auto_approve_max':
      return (
        <>
          Amount {money(amount)}, maximum without review{' '}
          {payout.autoApproveMax === null ? 'now removed' : money(payout.autoApproveMax)}
        </>
      );
    case 'above_auto_approve_daily_max':
      return (
        <>
          With this payout {money(add(payout.autoApproved ?? ZERO, amount))} in 24 hours, maximum
          without review{' '}
          {payout.autoApproveDailyMax === null ? 'now removed' : money(payout.autoApproveDailyMax)}
        </>
      );
    case 'first_use_of_destination':
      return payout.destinationPaidBefore
        ? 'First use of the destination; another payout to it was completed meanwhile'
        : 'First use of the destination: no completed payout of this account to it';
    case 'email_destination':
      return 'The destination is an email address';
    case 'new_api_key':
      return (
        <>
          {isId('user', payout.apiKeyId) ? 'User' : 'API key'} was{' '}
          {durationText(payout.createdAt.getTime() - payout.keyCreatedAt.getTime())} old, minimum
          without review {NEW_KEY_HOURS} h
        </>
      );
    case 'above_four_eyes_threshold':
      return (
        <>
          Amount {money(amount)}, threshold for two approvals{' '}
          {payout.fourEyesThreshold === null ? 'now higher' : money(payout.fourEyesThreshold)}
        </>
      );
  }
}

/** The approvals that a payout has and still needs. */
export function ApprovalsText({ payout }: { payout: ReviewedPayout }) {
  const { fourEyesThreshold, approvedBy, status } = payout;
  if (fourEyesThreshold === null || status !== 'under_review') return null;
  const [first] = approvedBy;
  return (
    <small class="break">
      {first === undefined
        ? 'Two operators must approve'
        : `Approved by ${first}, a second approval is required`}
    </small>
  );
}
