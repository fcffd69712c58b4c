/** One payout for an operator: what it is, why it is reviewed, and the decision. */
import {
  isFinalPayout,
  isWaitingForConditions,
  payoutStatusesBefore,
} from '../../../domain/payout';
import {
  type DecisionKind,
  type DecisionOutcome,
  type PayoutDecision,
  RELATED_OPERATORS,
} from '../../../domain/payout-decision';
import { BLOCKED_BY } from '../../../domain/screening';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import { InvalidInput } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import { addNote } from '../../audit/notes';
import {
  newDecisionId,
  type PayoutReview,
  type PayoutReviews,
  REASON_LENGTH_MAX,
  type WorkflowStep,
} from '../payout-reviews';
import type { PayoutBeneficiaries } from '../payout-beneficiaries';
import type { PayoutScreening, PayoutScreenings } from '../payout-screenings';
import {
  Alert,
  Card,
  CopyButton,
  Facts,
  Money,
  PageHead,
  Status,
  Time,
  words,
} from '../../../kit/pages/components';
import { draftForm, Field, fieldErrors, type FormState } from '../../../kit/pages/forms';
import { LedgerLines, Timeline } from '../../../kit/pages/history';
import { WaitsFor } from '../../../kit/pages/conditions';
import { Dossier } from '../../../kit/pages/evidence';
import { Follows, FollowSwitch, LiveStatus } from '../../../kit/pages/follow';
import { Icon } from '../../../kit/pages/icon';
import { type Answer, jsonDownload, page, redirect } from '../../../kit/pages/site';
import { WorkflowLink, type WorkflowUrl } from '../../../kit/pages/workflow-link';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { Beneficiary, type BeneficiaryProps } from './beneficiary';
import { Context } from './context';
import { levelAge, levelText, payoutListPages, waitText } from './list';
import { outcomeText } from './outcome';
import { Notes } from '../../audit/console/notes';
import { ExplorerLink } from '../../../kit/pages/explorer';
import { Address, ModeMark, WhyReviewed } from './parts';
import { sinceText } from '../../../kit/pages/since';
import { Screening, screeningRoutes } from './screening';

export function payoutPages(
  reviews: PayoutReviews,
  screenings: PayoutScreenings,
  beneficiaries: PayoutBeneficiaries,
  services: ConsoleServices,
  workflowUrl: WorkflowUrl,
): OperatorRoute[] {
  const show = async (
    visit: OperatorVisit,
    id: string,
    form: FormState,
    beneficiary: BeneficiaryProps['shown'] = null,
  ): Promise<Answer> => {
    const isDecided = visit.query.has('decision') || visit.query.has('late');
    const [review, screening, state, next] = await Promise.all([
      reviews.review(id, visit.session),
      screenings.read(id),
      beneficiaries.stateOf(id),
      isDecided ? reviews.nextInQueue(id) : null,
    ]);
    const { payout } = review;
    const body = (
      <Detail
        {...review}
        screening={screening}
        beneficiary={{
          payoutId: id,
          state,
          shown: beneficiary,
          maySee: visit.may('see_beneficiaries'),
        }}
        next={next}
        asked={visit.query}
        form={form}
        mayDecide={visit.may('review')}
        workflowUrl={workflowUrl}
      />
    );
    const status = Object.keys(form.errors).length === 0 ? 200 : 422;
    const nav = payout.status === 'under_review' ? 'queue' : 'payouts';
    return page(`Payout of ${payout.amount} ${payout.currency}`, body, { nav, status });
  };
  const decide = (kind: DecisionKind): OperatorRoute =>
    post(`/payouts/:id/${kind}`, 'review', async (visit) => {
      const { form, id: payoutId, session } = visit;
      const order = {
        id: form.get('decision') ?? '',
        payoutId,
        kind,
        reason: form.get(kind === 'approve' ? 'note' : 'reason') ?? '',
      };
      try {
        const result = await reviews.decide(order, session);
        if (result.kind === 'sign_in_again') {
          return { kind: result.kind, page: `${PREFIX}/payouts/${payoutId}` };
        }
        const told = result.kind === 'stored' ? `decision=${result.decision.id}` : 'late';
        return redirect(`${PREFIX}/payouts/${payoutId}?${told}`);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        const field = kind === 'approve' ? 'note' : 'reason';
        const errors = { [field]: error.message };
        return show(visit, payoutId, { values: form, errors });
      }
    });
  return [
    ...payoutListPages(reviews, services),
    get('/payouts/:id', 'read', (visit) => show(visit, visit.id, draftForm(visit))),
    get('/payouts/:id/dossier.json', { cost: 'export', needs: 'read' }, async ({ id }) => {
      return jsonDownload(`dossier-${id}.json`, { data: await services.payoutDossier(id) });
    }),
    decide('approve'),
    decide('reject'),
    post('/payouts/:id/notes', 'review', async (visit) => {
      const { id } = visit;
      const noted = { object: 'payout', id, accountId: await reviews.accountOf(id) } as const;
      const { answer, fields } = await fieldErrors(async () => {
        await addNote(services.db, visit.by, noted, visit.form.get('handover') ?? '');
        return redirect(`${PREFIX}/payouts/${id}#notes`);
      });
      return answer ?? show(visit, id, { values: visit.form, errors: fields });
    }),
    post('/payouts/:id/beneficiary', 'see_beneficiaries', async (visit) => {
      const { id } = visit;
      const beneficiary = await beneficiaries.look(visit.by, id);
      return show(visit, id, draftForm(visit), beneficiary);
    }),
    ...screeningRoutes(screenings, (visit, id, form) => show(visit, id, form)),
  ];
}

interface DetailProps extends PayoutReview {
  screening: PayoutScreening;
  beneficiary: BeneficiaryProps;
  /** What waits in the queue after a decision; null means nothing, or nothing was decided. */
  next: string | null;
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
  workflowUrl: WorkflowUrl;
}

function Detail(props: DetailProps) {
  const { payout, transactions, decisions, notes, cases, form, mayDecide, workflowUrl } = props;
  const handOver = (
    <Notes notes={notes} path={`${PREFIX}/payouts/${payout.id}`} form={form} mayWrite={mayDecide} />
  );
  const back =
    payout.status === 'under_review'
      ? { href: `${PREFIX}/queue`, label: 'Review queue' }
      : { href: `${PREFIX}/payouts`, label: 'Payouts' };
  return (
    <>
      <PageHead
        back={back}
        here={payout.reference}
        title={
          <>
            <Money amount={payout.amount} currency={payout.currency} />{' '}
            <LiveStatus value={payout.status} isOpen={!isFinalPayout(payout.status)} />{' '}
            <ModeMark mode={payout.mode} />
          </>
        }
        lead={
          <>
            {payout.accountName} · {payout.reference} · <Time at={payout.createdAt} />
          </>
        }
      >
        {isFinalPayout(payout.status) ? null : <FollowSwitch />}
        <WorkflowLink id={payout.id} urlOf={workflowUrl} />
      </PageHead>
      <Follows id="situation" isOpen={!isFinalPayout(payout.status)}>
        <Result {...props} />
        <Next {...props} />
        <Waiting payout={payout} />
        <RowOfBatch payout={payout} />
        <WaitsFor payout={payout} conditions={props.conditions} />
      </Follows>
      <div class="split">
        <div>
          <Card title="Destination">
            <p>
              <Address value={payout.destinationValue} />{' '}
              <CopyButton value={payout.destinationValue} label="Copy the address" />{' '}
              <ExplorerLink what="address" object={payout} value={payout.destinationValue} />
            </p>
            <Facts
              rows={[
                ['Network', words(payout.network ?? payout.destinationType)],
                ['Memo', payout.destinationMemo],
              ]}
            />
          </Card>
          <Beneficiary {...props.beneficiary} />
          {payout.reviewReasons.length === 0 ? null : (
            <Card title="Why it is reviewed" lead="The limits are those of today.">
              <WhyReviewed payout={payout} />
            </Card>
          )}
          <Screening {...props} />
          <Decision {...props} />
          <Story {...props} />
          <LedgerLines transactions={transactions} lead="Changes to the merchant’s balances" />
        </div>
        <div>
          {notes.length === 0 ? null : handOver}
          <Cases cases={cases} />
          <Context {...props} />
          <Decisions decisions={decisions} />
          {notes.length === 0 ? handOver : null}
          <Dossier href={`${PREFIX}/payouts/${payout.id}/dossier.json`} />
        </div>
      </div>
    </>
  );
}

/** Says that the payout has waited too long for its provider, and what to do. */
function Waiting({ payout }: Pick<PayoutReview, 'payout'>) {
  const { inDoubtSince } = payout;
  const title = waitText(payout);
  if (title === null) return null;
  return (
    <Alert tone="wait" title={title}>
      <p>
        {inDoubtSince === null
          ? 'The provider accepted this payout and has not reported a result.'
          : 'It is not known whether the provider has this payout.'}{' '}
        The gateway keeps asking, and the funds stay reserved. Do not pay the recipient another way.
      </p>
      {inDoubtSince === null ? null : (
        <p>
          <a href={`${PREFIX}/in-doubt?mode=${payout.mode}`}>Compare with the provider</a>
        </p>
      )}
    </Alert>
  );
}

/** A row of a batch; while it waits, the decision is about the batch. */
function RowOfBatch({ payout: { batchId, awaitsBatch } }: Pick<PayoutReview, 'payout'>) {
  if (batchId === null) return null;
  const link = <a href={`${PREFIX}/batches/${batchId}`}>Show the batch</a>;
  if (!awaitsBatch) return <p class="muted">This payout is a row of a batch. {link}</p>;
  return (
    <Alert tone="wait" title="This payout is a row of a batch that has not released it.">
      <p>It is approved, rejected or returned with the batch. {link}</p>
    </Alert>
  );
}

/** Everything that happened to it: its events and what the merchant was told, and what its workflow did. */
function Story(props: DetailProps) {
  const { payout, events, escalations, steps } = props;
  const waits = waitText(payout);
  const now =
    waits === null ? [] : [{ at: new Date(wallClockMs()), title: waits, text: 'It still waits.' }];
  return (
    <Follows id="story" isOpen={!isFinalPayout(payout.status)}>
      {steps === null ? (
        <Alert
          tone="wait"
          title="Temporal did not answer, so the timeline lacks the workflow’s steps."
        />
      ) : null}
      <Timeline
        events={events}
        deliveryPage={null}
        explain={(event) => whoAndWhy(props, event.type, event.actor)}
        remarks={[...now, ...escalations.map(remarkOf), ...(steps ?? []).map(stepRemark)]}
        showAnswers
      />
    </Follows>
  );
}

function stepRemark({ at, title, times, failure }: WorkflowStep) {
  const text = times === 1 ? 'Workflow' : `Workflow, ${times} times, this was the last`;
  return {
    at,
    title,
    text: failure === null ? text : `${text}: ${failure}`,
    tone: failure === null ? ('quiet' as const) : ('bad' as const),
  };
}

function Cases({ cases }: Pick<PayoutReview, 'cases'>) {
  if (cases.length === 0) return null;
  return (
    <Card title="Cases">
      {cases.map(({ id, kind, resolvedAt, createdAt }) => (
        <p>
          <a class="link" href={`${PREFIX}/cases/${id}`}>
            {words(kind)}
          </a>{' '}
          <Status value={resolvedAt === null ? 'open' : 'resolved'} /> <Time at={createdAt} />
        </p>
      ))}
    </Card>
  );
}

function remarkOf({ status, level, notedAt }: PayoutReview['escalations'][number]) {
  const isStuck = status === 'processing';
  if (level === 0) {
    return {
      at: notedAt,
      title: 'In doubt',
      text: 'The submission got no clear answer. The provider is asked until it answers.',
    };
  }
  return {
    at: notedAt,
    title: `${isStuck ? 'Stuck' : 'Still in doubt'}: ${levelText(level)}`,
    text: `No ${isStuck ? 'result' : 'clear answer'} from the provider for more than ${levelAge(level)}`,
  };
}

/** The links to the next payout after a decision. */
function Next({ asked, next }: DetailProps) {
  if (!asked.has('decision') && !asked.has('late')) return null;
  return (
    <div class="actions">
      {next === null ? (
        <p class="muted">No other payout waits for a review.</p>
      ) : (
        <a class="btn" href={`${PREFIX}/payouts/${next}`}>
          Next payout in the queue <Icon name="arrow-right" />
        </a>
      )}
    </div>
  );
}

/** The outcome of the decision that led to this page. */
function Result({ asked, payout, decisions, events }: DetailProps) {
  const decision = decisions.find(({ id }) => id === asked.get('decision'));
  if (decision === undefined && !asked.has('late')) return null;
  const { outcome } = decision ?? { outcome: 'already_decided' as const };
  const hadNoEffect = outcome !== null && !HAD_EFFECT.includes(outcome);
  const last = hadNoEffect ? events.find(({ type }) => DECIDED.includes(type)) : undefined;
  return (
    <Alert {...outcomeText({ kind: decision?.kind ?? 'approve', outcome }, payout)}>
      {last === undefined ? null : (
        <p>
          {words(last.type.split('.')[1] ?? '')} by {last.actor ?? 'the gateway'}{' '}
          {sinceText(last.createdAt)} ago. It is now {payout.status.replaceAll('_', ' ')}.
        </p>
      )}
    </Alert>
  );
}

const HAD_EFFECT: readonly DecisionOutcome[] = ['applied', 'counted', 'blocked', 'same_operator'];
const DECIDED: readonly string[] = ['payout.approved', 'payout.rejected', 'payout.cancelled'];

/** Who decided: signed in to the console, or claimed by a signal. */
function whoAndWhy(
  { payout, decisions }: PayoutReview,
  type: string,
  actor: string | null,
): string | null {
  switch (type) {
    case 'payout.requested':
      return actor === null
        ? `Requested with ${payout.apiKeyId}`
        : `Approved by ${actor}, and waiting for its conditions`;
    case 'payout.approved':
      if (actor === null) {
        return payout.reviewReasons.length === 0
          ? 'Approved automatically'
          : 'Approved by a signal without a name';
      }
      return `By ${actor}, ${proofOf(decisions, 'approve', actor)}`;
    case 'payout.rejected': {
      const reason = payout.rejectionReason ?? '';
      if (actor === BLOCKED_BY) {
        return `The screening blocked the destination. The merchant reads: “${reason}”`;
      }
      const by =
        actor === null
          ? 'By a signal without a name'
          : `By ${actor}, ${proofOf(decisions, 'reject', actor)}`;
      return `${by}: ${reason}`;
    }
    case 'payout.cancelled':
      return payout.releaseExpiredAt === null
        ? `By the merchant, request ${actor ?? ''}`
        : 'Not released by the time that the merchant set';
    case 'payout.processing':
      return `Accepted by ${words(payout.provider)}, transfer ${payout.providerTransferId ?? ''}`;
    case 'payout.failed':
      return payout.failureReason;
    default:
      return null;
  }
}

function proofOf(decisions: readonly PayoutDecision[], kind: DecisionKind, actor: string): string {
  const signedIn = decisions.some(
    (one) => one.kind === kind && one.outcome === 'applied' && one.email === actor,
  );
  return signedIn ? 'signed in' : 'as claimed by a signal';
}

function Decision(props: DetailProps) {
  const { payout, decider, form, mayDecide } = props;
  const isSubmitted = payout.submissionStartedAt !== null;
  const mayReject = payoutStatusesBefore('reject').includes(payout.status) && !isSubmitted;
  if (!mayDecide || !mayReject || payout.awaitsBatch) return null;
  const action = `${PREFIX}/payouts/${payout.id}`;
  return (
    <Card title="Decision">
      <ApprovalForm {...props} action={`${action}/approve`} />
      <details class="confirm" open={form.errors['reason'] !== undefined}>
        <summary class="btn" data-variant={payout.screening === 'block' ? 'primary' : 'outline'}>
          <Icon name="ban" /> Reject …
        </summary>
        <form method="post" action={`${action}/reject`} class="confirm-body">
          <input type="hidden" name="decision" value={newDecisionId()} />
          <Field
            name="reason"
            label="Reason for the rejection"
            hint="The merchant can read it."
            form={form}
            maxLength={REASON_LENGTH_MAX}
            required
          />
          <button class="btn" data-variant="destructive">
            Reject and return {payout.totalDebit} {payout.currency}
          </button>
        </form>
      </details>
      {decider.mayReview ? null : <p class="muted">Your role was changed. Sign in again.</p>}
    </Card>
  );
}

function ApprovalForm({ payout, decider, form, action }: DetailProps & { action: string }) {
  const { status, fourEyesThreshold, approvedBy, amount, currency } = payout;
  if (!payoutStatusesBefore('approve').includes(status)) return null;
  if (isWaitingForConditions(payout)) return null;
  if (payout.screening === 'block') {
    return <Alert tone="bad" title="The screening blocks the destination. Reject the payout." />;
  }
  const needsTwo = fourEyesThreshold !== null && status === 'under_review';
  const [first] = approvedBy;
  const isCleared = payout.screening === null || payout.screening === 'clear';
  return (
    <>
      {isCleared ? null : (
        <Alert
          tone="wait"
          title={
            payout.screening === 'review'
              ? 'The screening asks for a review. After the approval the payout is held until an operator allows it.'
              : 'The screening has not answered. After the approval the payout waits for its answer.'
          }
        />
      )}
      {needsTwo ? (
        <Alert
          tone="wait"
          title={
            first === undefined
              ? 'Two different operators must approve this amount.'
              : `Approved by ${first}, a second approval is required.`
          }
        >
          {decider.hadKey ? (
            <p>
              You created or rotated the API key, or requested the payout, so you cannot approve it.
            </p>
          ) : null}
          {decider.relatedTo === null ? null : (
            <p>
              Your approval does not count with the one of {decider.relatedTo}: {RELATED_OPERATORS}.
              You can still reject it.
            </p>
          )}
          {decider.hasCounted ? <p>You have approved it. You can still reject it.</p> : null}
        </Alert>
      ) : null}
      {needsTwo && (decider.hadKey || decider.hasCounted || decider.relatedTo !== null) ? null : (
        <form method="post" action={action} class="stack">
          <input type="hidden" name="decision" value={newDecisionId()} />
          <Field
            name="note"
            label="Note (optional)"
            hint="Recorded in the audit log."
            form={form}
            maxLength={REASON_LENGTH_MAX}
          />
          <div>
            <button class="btn" data-variant="primary">
              {needsTwo && first === undefined ? (
                <>Give the first approval for </>
              ) : (
                <>{isCleared ? 'Approve and send' : 'Approve'} </>
              )}
              <Money amount={amount} currency={currency} />
            </button>
          </div>
        </form>
      )}
    </>
  );
}

const OUTCOMES: Record<DecisionOutcome, string> = {
  applied: 'Applied',
  counted: 'First of two approvals',
  already_decided: 'No effect: already decided',
  too_late: 'No effect: already submitted',
  same_operator: 'No effect: had approved before',
  key_creator: 'Refused: created or rotated the API key, or requested the payout',
  related_operator: 'Refused: does not count with the first approval',
  not_allowed: 'Refused: the role did not allow it any more',
  blocked: 'The payout was rejected: the screening blocks the destination',
  expired: 'No effect: it reached the workflow too late',
};

function Decisions({ decisions }: { decisions: readonly PayoutDecision[] }) {
  if (decisions.length === 0) return null;
  return (
    <Card title="Decisions in the console">
      <ol class="timeline">
        {decisions.map(({ kind, email, outcome, reason, createdAt }) => (
          <li data-tone={outcome === 'applied' || outcome === 'counted' ? 'good' : 'quiet'}>
            <div class="line">
              <b>{words(kind)}</b>
              <Time at={createdAt} seconds />
            </div>
            <small>{email}</small>
            <small>{outcome === null ? 'No answer yet' : OUTCOMES[outcome]}</small>
            {reason === null ? null : <small>{reason}</small>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
