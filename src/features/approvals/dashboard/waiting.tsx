/** What the page of an object says while it waits for a second person, and that person's form. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import { type ApprovedKind, approversOf } from '../../../domain/second-person';
import type { DashboardServices, PersonDecision } from '../../../shell/dashboard/services';
import type { Waiting } from '../second-person';
import { Alert, personText, Time } from '../../../kit/pages/components';
import { Confirm, EMPTY_FORM, Field } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import type { MerchantVisit } from '../../../kit/pages/merchant-page';

const WORDS: Record<ApprovedKind, { name: string; list: string; effect: string }> = {
  apiKey: {
    name: 'API key',
    list: 'keys',
    effect: 'You confirm its scopes and limits. Its payouts then need no second person.',
  },
  payout: {
    name: 'payout',
    list: 'payouts',
    effect: 'You confirm the amount and the destination. Payouts cannot be reversed.',
  },
  payoutBatch: {
    name: 'batch',
    list: 'batches',
    effect: 'You confirm all rows as they are now. Payouts cannot be reversed.',
  },
  refund: {
    name: 'refund',
    list: 'refunds',
    effect: 'You confirm the amount and the payment. Refunds cannot be reversed.',
  },
  recipient: {
    name: 'recipient',
    list: 'recipients',
    effect: 'You confirm the destination. Payouts can then be sent to it without this question.',
  },
  payoutSchedule: {
    name: 'schedule',
    list: 'schedules',
    effect: 'You confirm all rows for each of its times. Payouts cannot be reversed.',
  },
};

export function nameOfWaiting({ kind }: Pick<Waiting, 'kind'>): string {
  return WORDS[kind].name;
}

export function pathOfWaiting(base: string, { kind, id }: Pick<Waiting, 'kind' | 'id'>): string {
  return `${base}/${WORDS[kind].list}/${id}`;
}

interface SecondPersonProps {
  waiting: Waiting;
  visit: MerchantVisit;
  facts: SecondPersonFacts;
}

/** What the page says about the rule; read only when something waits. */
interface SecondPersonFacts {
  rule: Awaited<ReturnType<DashboardServices['secondPersonRule']>>;
  approvers: Awaited<ReturnType<DashboardServices['approvers']>>;
}

/** @returns null when it does not wait */
export async function secondPersonOf(
  { secondPersonRule, approvers }: DashboardServices,
  visit: MerchantVisit,
  waiting: Waiting | null,
) {
  if (waiting === null) return null;
  const facts = { rule: await secondPersonRule(visit), approvers: await approvers(visit) };
  return <SecondPerson waiting={waiting} visit={visit} facts={facts} />;
}

function SecondPerson({ waiting, visit, facts }: SecondPersonProps) {
  const { kind, id, maker, version, until } = waiting;
  const { name, effect } = WORDS[kind];
  const others = approversOf(facts.approvers, maker);
  return (
    <Alert tone="wait" title="Waiting for two-person approval">
      <p>{whyOf(waiting, facts)}</p>
      <p class="break">
        {others.length === 0
          ? 'Nobody else of the account may approve it: an approver is an owner or in finance, has a confirmed email address, and was not brought in by the same person in the last 30 days. Ask the operator to confirm a person.'
          : `It can be approved here by ${others.map(personText).join(', ')}.`}
      </p>
      {until === null ? null : (
        <p>
          The funds are returned unless it is approved by <Time at={until} seconds />.
        </p>
      )}
      {others.some(({ userId }) => userId === visit.userId) ? (
        <Confirm
          action={`${visit.base}/second-person/${id}/approve`}
          label="Approve"
          icon="check"
          variant="primary"
          effect={effect}
          confirm={`Approve this ${name} now`}
          hidden={{ version }}
        />
      ) : null}
      {visit.may('approve') && visit.userId !== maker ? (
        <Decline
          action={`${visit.base}/second-person/${id}/decline`}
          name={name}
          version={version}
        />
      ) : null}
    </Alert>
  );
}

/** Ends it, as the person who requested it could. */
function Decline({ action, name, version }: { action: string; name: string; version: string }) {
  return (
    <details class="confirm">
      <summary class="btn" data-variant="outline">
        <Icon name="x" /> Decline …
      </summary>
      <form method="post" action={action} class="confirm-body">
        <input type="hidden" name="version" value={version} />
        <Field
          name="reason"
          label="Reason"
          hint="Optional. The people of your account can read it."
          form={EMPTY_FORM}
          maxLength={REASON_LENGTH_MAX}
          autocomplete="off"
        />
        <button class="btn" data-variant="destructive">
          Decline this {name}
        </button>
      </form>
    </details>
  );
}

/** Who approved or declined it, as rows of the details. */
export function decisionRows(decisions: readonly PersonDecision[]) {
  return decisions.map(
    (one) =>
      [
        one.action === 'second_person.approve' ? 'Approved by' : 'Declined by',
        <>
          {personText(one)}
          <small>
            <Time at={one.at} />
            {one.reason === null ? '' : `: ${one.reason}`}
          </small>
        </>,
      ] as const,
  );
}

function whyOf({ kind, currencies }: Waiting, { rule }: SecondPersonFacts): string {
  const amounts = currencies.flatMap((currency) =>
    rule[currency] === undefined ? [] : [`${rule[currency].replace(/\.?0+$/, '')} ${currency}`],
  );
  const above = amounts.length === 0 ? 'an amount' : amounts.join(' or ');
  if (kind === 'apiKey') {
    return 'A person made or changed this key. Until another person approves it, what it requests counts as requested by that person, and waits above the amount of your account.';
  }
  if (kind === 'recipient') {
    return `Your account asks for a second person above ${above}, so a person’s new destination in this currency waits too.`;
  }
  const why = `With it, a person exceeds ${above} in 24 hours, which one person of your account may not send alone.`;
  return kind === 'payoutSchedule' ? `${why} Until then its runs pay nothing.` : why;
}
