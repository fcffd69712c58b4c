/** The screening of a payout's destination: what each source answered, and what an operator does about it. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import { isFinalPayout } from '../../../domain/payout';
import { SERVICE } from '../../../domain/screening';
import { AdminRefusal, InvalidInput } from '../../../kit/service/refusal';
import type { PayoutReview, ReviewedPayout } from '../payout-reviews';
import type { PayoutScreening, PayoutScreenings } from '../payout-screenings';
import { Alert, Card, Status, Time } from '../../../kit/pages/components';
import { Action, Field, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { redirect, signInAgain, type SignedInAnswer } from '../../../kit/pages/site';
import {
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { approvedText, type DecisionText } from './outcome';

/** @param show the payout's page, with the form that was sent */
export function screeningRoutes(
  screenings: PayoutScreenings,
  show: (visit: OperatorVisit, id: string, form: FormState) => Promise<SignedInAnswer>,
): OperatorRoute[] {
  return [
    post(
      '/payouts/:id/screening/ask',
      { cost: 'provider', needs: 'review' },
      async ({ id, by }) => {
        const { kind } = await screenings.askAgain(by, id);
        return redirect(`${PREFIX}/payouts/${id}?screened=${kind}#screening`);
      },
    ),
    post('/payouts/:id/screening/allow', 'review', async (visit) => {
      const { id } = visit;
      const page = `${PREFIX}/payouts/${id}`;
      // Only live payouts are screened.
      const refused = signInAgain(visit, page);
      if (refused !== null) return refused;
      try {
        const by = visit.withReason('allow_reason');
        await screenings.allow(by, id, visit.form.get('seen') ?? '');
        return redirect(`${page}?screened=allowed#screening`);
      } catch (error) {
        const isOutdated =
          error instanceof AdminRefusal && error.refusal.code === 'screening_changed';
        if (!isOutdated && !(error instanceof InvalidInput)) throw error;
        return show(visit, id, { values: visit.form, errors: { allow_reason: error.message } });
      }
    }),
  ];
}

interface ScreeningProps {
  payout: PayoutReview['payout'];
  screening: PayoutScreening;
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
}

/** The screening of a payout; nothing is shown if no source screens it. */
export function Screening(props: ScreeningProps) {
  const { payout, screening, asked, mayDecide } = props;
  if (payout.mode === 'test' || screening.sources.length === 0) return null;
  const isOpen = !isFinalPayout(payout.status) && payout.status !== 'processing';
  return (
    <Card
      id="screening"
      title="Screening"
      lead="What each source says about the destination. The merchant sees none of it."
      action={
        mayDecide && isOpen && !payout.awaitsBatch ? (
          <Action action={`${PREFIX}/payouts/${payout.id}/screening/ask`} label="Ask again" />
        ) : undefined
      }
    >
      <Outcome asked={asked} payout={payout} />
      <Held {...props} />
      <ul class="why">
        {screening.sources.map((source) => (
          <Source {...source} />
        ))}
      </ul>
      {screening.allowances.map(({ allowedBy, reason, createdAt }) => (
        <p>
          Allowed by {allowedBy} <Time at={createdAt} seconds />: {reason}
        </p>
      ))}
      <AllowForm {...props} />
    </Card>
  );
}

const VERDICT_TEXTS: Record<NonNullable<ReviewedPayout['screening']>, DecisionText> = {
  clear: { tone: 'good', title: 'Every source is clear.' },
  review: { tone: 'wait', title: 'The sources ask for a review.' },
  block: { tone: 'bad', title: 'A source blocks the destination.' },
  no_answer: { tone: 'bad', title: 'A source did not answer. The payout waits.' },
};

/** The outcome of an allowance or a question, worded from the payout as it is now. */
function Outcome({ asked, payout }: Pick<ScreeningProps, 'asked' | 'payout'>) {
  const did = asked.get('screened');
  if (did === 'allowed') return <Alert {...approvedText(payout, 'Allowed')} />;
  return did === null || payout.screening === null ? null : (
    <Alert {...VERDICT_TEXTS[payout.screening]} />
  );
}

function Held({ payout, screening: { hold } }: ScreeningProps) {
  if (hold === null) return null;
  const isSubmitted = payout.submissionStartedAt !== null;
  return (
    <Alert
      tone="wait"
      title={
        hold.kind === 'review'
          ? `The payout is held until an operator allows${isSubmitted ? '' : ' or rejects'} it.`
          : 'The payout waits for an answer. Nothing is sent without one.'
      }
    >
      <p>
        Since <Time at={hold.since} seconds />. {hold.kind === 'no_answer' ? hold.reason : null}
      </p>
      {isSubmitted ? (
        <p>
          It was submitted before, and the submission may still reach the provider, so it cannot be
          rejected.
        </p>
      ) : null}
    </Alert>
  );
}

function Source({ name, answer }: PayoutScreening['sources'][number]) {
  const source = name === SERVICE ? 'Screening service' : `List ${name}`;
  if (answer === null) {
    return (
      <li>
        {source}: <span class="muted">not asked yet</span>
      </li>
    );
  }
  const { verdict, reasons, reference, answeredAt, isCurrent } = answer;
  return (
    <li>
      {source}: <Status value={verdict} />{' '}
      <small>
        <Time at={new Date(answeredAt)} seconds />
        {isCurrent ? '' : ', no longer counts'}
        {reference === null ? '' : `, ${reference}`}
      </small>
      {reasons.length === 0 ? null : (
        <ul>
          {reasons.map((reason) => (
            <li class="break">{reason}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

function AllowForm({ payout, screening, form, mayDecide }: ScreeningProps) {
  if (!mayDecide || screening.hold?.kind !== 'review' || screening.seen === null) return null;
  return (
    <details class="confirm" open={form.errors['allow_reason'] !== undefined}>
      <summary class="btn" data-variant="outline">
        <Icon name="check" /> Allow this payout …
      </summary>
      <form
        method="post"
        action={`${PREFIX}/payouts/${payout.id}/screening/allow`}
        class="confirm-body"
      >
        <input type="hidden" name="seen" value={screening.seen} />
        <Field
          name="allow_reason"
          label="Why it may be sent"
          hint="Recorded in the audit log and in the case. It allows this payout, with the answers above."
          form={form}
          maxLength={REASON_LENGTH_MAX}
          required
        />
        <button class="btn" data-variant="primary">
          Allow and send {payout.amount} {payout.currency}
        </button>
      </form>
    </details>
  );
}
