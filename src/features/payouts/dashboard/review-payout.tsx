/**
 * The last look at a live payout: what is sent to whom and what it costs, and the form that sends exactly
 * this.
 */
import type { Beneficiary } from '../../../domain/beneficiary';
import type { SentPayoutOrder } from '../../../domain/payout';
import { conditionWords, requestedConditions } from '../../../domain/payout-condition';
import type { Recipient } from '../../../domain/recipient';
import type { Approver } from '../../../domain/second-person';
import { canonicalJson, sha256 } from '../../../platform/lib/canonical-json';
import type { PayoutQuote } from '../../../kit/service/services';
import { Alert, Card, Facts, Id, Money, PageHead, words } from '../../../kit/pages/components';
import { Approvals } from '../../approvals/dashboard/who-approves';
import { SentAgain } from '../../../kit/pages/forms';

/** A field that only the review's form has; its other fields are those of the payout's form. */
export const REVIEWED = 'reviewed';
/** The name of a button that shows the form again with what was entered, and creates nothing. */
export const EDIT = 'edit';

/** What a person has seen. The balance is left out: it changes with every payment. */
export function reviewedDigest({ order, quote, recipient }: Reviewed): string {
  const { provider, network, serviceFee, networkFee, totalDebit } = quote;
  const costs = { provider, network, serviceFee, networkFee, totalDebit };
  const seen = { order, costs, destination: destinationOf(order, recipient) };
  const json: unknown = JSON.parse(JSON.stringify(seen));
  return sha256(canonicalJson(json)).toString('base64url');
}

function destinationOf({ destination }: SentPayoutOrder, recipient: Recipient | null) {
  if (recipient === null) return destination;
  const { destinationType: type, destinationValue: value, destinationMemo: memo } = recipient;
  return { type, value, memo };
}

export interface Reviewed {
  order: SentPayoutOrder;
  quote: PayoutQuote;
  /** The recipient that the order names. */
  recipient: Recipient | null;
}

interface ReviewProps {
  /** The path of the list of payouts. */
  path: string;
  reviewed: Reviewed;
  /** What was sent, with the key of the form. */
  values: URLSearchParams;
  fields: readonly string[];
  userId: string;
  approvers: readonly Approver[];
  /** Whether something has changed since the payout was shown and confirmed. */
  isStale: boolean;
}

export function ReviewPayout(props: ReviewProps) {
  const { path, reviewed, values, fields, isStale, userId, approvers } = props;
  const { order, quote, recipient } = reviewed;
  const { currency } = order;
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  const isRequest = quote.needsSecondPerson || quote.reviewReasons.length > 0;
  const sent = <SentAgain values={values} fields={fields} table={false} />;
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Payouts' }}
        title="Review the payout"
        lead="Nothing is reserved or sent yet."
      />
      {isStale ? (
        <Alert tone="bad" title="The payout has changed since it was shown. Nothing was sent.">
          <p>The fees or the route are new. Review it again.</p>
        </Alert>
      ) : null}
      <Approvals
        needsSecondPerson={quote.needsSecondPerson}
        reviewReasons={quote.reviewReasons}
        approvers={approvers}
        userId={userId}
        otherwise="Nobody. You can cancel the payout for a few seconds after you send it. After that, it cannot be reversed."
      />
      <Card>
        <Facts
          rows={[
            ['The recipient gets', money(order.amount)],
            ...destinationRows(order, recipient),
            ['Network', quote.network === null ? 'None' : words(quote.network)],
            ['Provider', words(quote.provider)],
            ['Service fee', money(quote.serviceFee)],
            ['Network fee', money(quote.networkFee)],
            ['Total debit', money(quote.totalDebit)],
            ['Available afterwards', money(quote.availableAfter)],
            ['Reference', order.reference],
            ['Description', order.description],
            ['Beneficiary', beneficiaryWords(order.beneficiary ?? null)],
            ...releaseRows(order),
          ]}
        />
        <div class="actions">
          <form method="post" action={`${path}/new`}>
            {sent}
            <input type="hidden" name={REVIEWED} value={reviewedDigest(reviewed)} />
            <button class="btn">
              {isRequest ? 'Request payout of' : 'Send'} {money(order.amount)}
            </button>
          </form>
          <form method="post" action={`${path}/new`}>
            {sent}
            <button class="btn" data-variant="outline" name={EDIT} value="yes">
              Change
            </button>
          </form>
        </div>
      </Card>
    </>
  );
}

function beneficiaryWords(beneficiary: Beneficiary | null): string | null {
  if (beneficiary === null) return null;
  const { name, kind, institution } = beneficiary;
  return [name, words(kind), institution].filter(Boolean).join(' · ');
}

function destinationRows(order: SentPayoutOrder, recipient: Recipient | null) {
  const destination = destinationOf(order, recipient);
  return [
    ['Recipient', recipient?.name ?? null],
    ['Destination', destination === null ? null : <Id value={destination.value} />],
    ['Memo', destination?.memo ?? null],
  ] as const;
}

function releaseRows({ release }: SentPayoutOrder) {
  if (release === undefined) return [];
  const conditions = requestedConditions(release).map((one) => (
    <div class="break">{conditionWords(one)}</div>
  ));
  return [
    ['Waits for', conditions.length === 0 ? null : conditions],
    ['Waits until', release.recipientReady === true ? 'the recipient may be paid' : null],
    ['Cancelled unless sent by', release.expiresAt],
  ] as const;
}
