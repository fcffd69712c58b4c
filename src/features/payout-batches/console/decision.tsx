/** The decision about a batch: its forms, what becomes of it, and who decided before. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import { type PayoutBatch, payoutBatchStatusesBefore } from '../../../domain/payout-batch';
import type { BatchReview } from '../batch-reviews';
import { newDecisionId } from '../../payouts/payout-reviews';
import { LeaveOutForm } from '../pages/batch-parts';
import { Alert, Card, Time, words } from '../../../kit/pages/components';
import { Field, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { PREFIX } from '../../../kit/pages/operator-page';
import { outcomeText } from './outcome';

const PATH = `${PREFIX}/batches`;

export interface DetailProps extends BatchReview {
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
}

/** The outcome of the decision that led to this page. */
export function DecisionResult({ asked, batch, decisions }: DetailProps) {
  const decision = decisions.find(({ id }) => id === asked.get('decision'));
  if (decision === undefined && !asked.has('late')) return null;
  if (decision === undefined) {
    return <Alert tone="bad" title="Your decision had no effect: the batch was already decided." />;
  }
  const { outcome } = decision;
  const tone =
    outcome === 'applied' || outcome === 'counted' ? 'good' : outcome === null ? 'wait' : 'bad';
  return <Alert tone={tone} title={outcomeText(decision, batch)} />;
}

export function Decision(props: DetailProps) {
  const { batch, mayDecide, decider, form } = props;
  if (!mayDecide || batch.ending !== null) return null;
  const may = (kind: 'approve' | 'reject' | 'stop') =>
    payoutBatchStatusesBefore(kind).includes(batch.status);
  if (!may('stop')) return null;
  return (
    <Card title="Decision">
      {may('approve') ? <Approval {...props} /> : null}
      {may('reject') ? (
        <Ending batch={batch} kind="reject" form={form} hint="The merchant can read it." />
      ) : null}
      {may('approve') ? null : (
        <Ending batch={batch} kind="stop" form={form} hint="Recorded in the audit log." />
      )}
      {decider.mayReview ? null : <p class="muted">Your role was changed. Sign in again.</p>}
    </Card>
  );
}

function Approval({ batch, progress, decider, decisions, form }: DetailProps) {
  const first = decisions.find(({ outcome }) => outcome === 'counted');
  const { needsTwo, hadKey, hasCounted, isRelated } = decider;
  const isBarred = batch.awaitsSecondPerson || (needsTwo && (hadKey || hasCounted || isRelated));
  return (
    <>
      {batch.awaitsSecondPerson ? (
        <Alert tone="wait" title="Another person of the merchant must approve this batch first.">
          <p>
            It was requested by one person on the dashboard, above the amount of the account. You
            can reject it.
          </p>
        </Alert>
      ) : null}
      {needsTwo ? (
        <Alert
          tone="wait"
          title={
            first === undefined
              ? 'Two different operators must approve this batch.'
              : `Approved by ${first.email}, a second approval is required.`
          }
        >
          {hadKey ? (
            <p>
              You created or rotated the API key, or requested the batch, so you cannot approve it.
            </p>
          ) : null}
          {isRelated ? (
            <p>
              Your approval does not count with the first one: one of you invited the other or
              proposed the other’s role in the last 30 days. You can still reject the batch.
            </p>
          ) : null}
          {hasCounted ? <p>You have approved it. You can still reject it.</p> : null}
        </Alert>
      ) : null}
      {isBarred ? null : (
        <form method="post" action={`${PATH}/${batch.id}/approve`} class="stack">
          <input type="hidden" name="decision" value={newDecisionId()} />
          <input type="hidden" name="manifest" value={batch.manifestSha256} />
          <Field
            name="note"
            label="Note (optional)"
            hint="Recorded in the audit log."
            form={form}
            maxLength={REASON_LENGTH_MAX}
          />
          <div>
            <button class="btn" data-variant="primary">
              {needsTwo && first === undefined ? 'Give the first approval for' : 'Approve'}{' '}
              {(batch.rowCount - progress.leftOut).toLocaleString('en')} payouts
            </button>
          </div>
        </form>
      )}
    </>
  );
}

interface EndingProps {
  batch: PayoutBatch;
  kind: 'reject' | 'stop';
  form: FormState;
  hint: string;
}

function Ending({ batch, kind, form, hint }: EndingProps) {
  const field = `${kind}_reason`;
  const effect =
    kind === 'reject'
      ? 'Reject and return all funds'
      : 'Stop and return the funds of the rows that wait';
  return (
    <details class="confirm" open={form.errors[field] !== undefined}>
      <summary class="btn" data-variant="outline">
        <Icon name="ban" /> {words(kind)} …
      </summary>
      <form method="post" action={`${PATH}/${batch.id}/${kind}`} class="confirm-body">
        <input type="hidden" name="decision" value={newDecisionId()} />
        <input type="hidden" name="manifest" value={batch.manifestSha256} />
        <Field
          name={field}
          label={kind === 'reject' ? 'Reason for the rejection' : 'Reason for the stop'}
          hint={hint}
          form={form}
          maxLength={REASON_LENGTH_MAX}
          required
        />
        <button class="btn" data-variant="destructive">
          {effect}
        </button>
      </form>
    </details>
  );
}

export function LeaveOut({ batch, form }: DetailProps) {
  return (
    <LeaveOutForm action={`${PATH}/${batch.id}/leave_out`} form={form}>
      <input type="hidden" name="decision" value={newDecisionId()} />
      <input type="hidden" name="manifest" value={batch.manifestSha256} />
      <Field
        name="leave_out_reason"
        label="Reason for leaving them out"
        hint="The merchant can read it."
        form={form}
        maxLength={REASON_LENGTH_MAX}
        required
      />
    </LeaveOutForm>
  );
}

export function Decisions({ batch, decisions }: DetailProps) {
  if (decisions.length === 0) return null;
  return (
    <Card title="Decisions in the console">
      <ol class="timeline">
        {decisions.map((decision) => (
          <li
            data-tone={['applied', 'counted'].includes(decision.outcome ?? '') ? 'good' : 'quiet'}
          >
            <div class="line">
              <b>{words(decision.kind)}</b>
              <Time at={decision.createdAt} seconds />
            </div>
            <small>{decision.email}</small>
            <small>{outcomeText(decision, batch)}</small>
            {decision.reason === null ? null : <small>{decision.reason}</small>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
