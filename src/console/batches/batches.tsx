/** Batches of payouts: the list, and one batch with its manifest and the decision. */
import {
  type PayoutBatch,
  payoutBatchStatusesBefore,
  type PayoutBatchTotals,
} from '../../domain/payout-batch';
import { REVIEW_REASON_SENTENCES } from '../../domain/review';
import { InvalidInput } from '../../services/admin/refusal';
import type { BatchReview, BatchReviews } from '../../services/batch-reviews';
import { newDecisionId } from '../../services/payout-reviews';
import {
  Alert,
  Card,
  CopyButton,
  Empty,
  Facts,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../web/components';
import { draftForm, Field, type FormState } from '../../web/forms';
import { Icon } from '../../web/icon';
import { chosen, ListPager, PER_PAGE, positionOf } from '../../web/lists';
import { type Answer, page, redirect } from '../../web/site';
import { WorkflowLink, type WorkflowUrl } from '../../web/workflow-link';
import {
  type OperatorRoute,
  type OperatorVisit,
  PREFIX,
  REASON_LENGTH_MAX,
} from '../operator-page';
import { Address, ModeMark, ReferenceOf } from '../payouts/parts';
import { outcomeText } from './outcome';

const PATH = `${PREFIX}/batches`;
const NAV = { nav: 'batches' };

export function batchPages(batches: BatchReviews, workflowUrl: WorkflowUrl): OperatorRoute[] {
  const show = async (visit: OperatorVisit, id: string, form: FormState): Promise<Answer> => {
    const review = await batches.review(id, visit.session);
    const body = (
      <Detail
        {...review}
        asked={visit.query}
        form={form}
        mayDecide={visit.may('review')}
        workflowUrl={workflowUrl}
      />
    );
    const status = Object.keys(form.errors).length === 0 ? 200 : 422;
    return page(`Batch ${review.batch.reference}`, body, { ...NAV, status });
  };
  const decide = (kind: 'approve' | 'reject' | 'stop'): OperatorRoute => ({
    method: 'post',
    path: `/batches/:id/${kind}`,
    needs: 'review',
    run: async (visit) => {
      const { form, params, session } = visit;
      const batchId = params['id'] ?? '';
      const field = kind === 'approve' ? 'note' : `${kind}_reason`;
      const order = {
        id: form.get('decision') ?? '',
        batchId,
        kind,
        manifestSha256: form.get('manifest') ?? '',
        reason: form.get(field) ?? '',
      };
      try {
        const result = await batches.decide(order, session);
        if (result.kind === 'sign_in_again')
          return { kind: result.kind, page: `${PATH}/${batchId}` };
        const told = result.kind === 'stored' ? `decision=${result.decision.id}` : 'late';
        return redirect(`${PATH}/${batchId}?${told}`);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        const errors = { [field]: error.message };
        return show(visit, batchId, { values: form, errors });
      }
    },
  });
  return [
    {
      method: 'get',
      path: '/batches',
      needs: 'read',
      run: async ({ query }) => {
        const open = chosen(query, 'show', ['open', 'all']) !== 'all';
        const list = { limit: PER_PAGE, after: positionOf(query), open };
        const { items, next } = await batches.list(list);
        const body = <BatchList rows={items} query={query} next={next} open={open} />;
        return page('Batches', body, NAV);
      },
    },
    {
      method: 'get',
      path: '/batches/:id',
      needs: 'read',
      run: (visit) => show(visit, visit.params['id'] ?? '', draftForm(visit)),
    },
    decide('approve'),
    decide('reject'),
    decide('stop'),
  ];
}

interface BatchListProps {
  rows: Awaited<ReturnType<BatchReviews['list']>>['items'];
  query: URLSearchParams;
  next: Parameters<typeof ListPager>[0]['next'];
  open: boolean;
}

function BatchList({ rows, query, next, open }: BatchListProps) {
  const lead = open
    ? 'Batches that are open, in all accounts. The oldest is first.'
    : 'Batches of all accounts. The newest is first.';
  return (
    <>
      <PageHead title="Batches" lead={lead}>
        <a class="btn" data-variant="outline" href={open ? `${PATH}?show=all` : PATH}>
          {open ? 'Show all batches' : 'Show open batches'}
        </a>
      </PageHead>
      <Card flush>
        <Table
          caption="Batches"
          rows={rows}
          empty={
            <Empty icon="layers" title={open ? 'No open batches' : 'No batches yet'}>
              <p>A batch appears here when a merchant creates one.</p>
            </Empty>
          }
          columns={[
            {
              label: 'Rows',
              right: true,
              cell: ({ id, rowCount, mode }) => (
                <>
                  <a href={`${PATH}/${id}`}>{rowCount.toLocaleString('en')}</a>
                  <small>
                    <ModeMark mode={mode} />
                  </small>
                </>
              ),
            },
            { label: 'Amounts', right: true, cell: ({ totals }) => <Sums totals={totals} /> },
            {
              label: 'Status',
              cell: ({ status, ending, closedAt }) => (
                <>
                  <Status value={status} />
                  {ending === null || closedAt !== null ? null : <small>{ENDING[ending]}</small>}
                </>
              ),
            },
            { label: 'Reference', cell: (batch) => <ReferenceOf {...batch} /> },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Card>
      <ListPager path={PATH} query={query} next={next} />
    </>
  );
}

const ENDING = { stop: 'Being stopped', reject: 'Being rejected' };

function Sums({ totals }: { totals: readonly PayoutBatchTotals[] }) {
  return (
    <>
      {totals.map(({ currency, amount }) => (
        <div>
          <Money amount={amount} currency={currency} />
        </div>
      ))}
    </>
  );
}

interface DetailProps extends BatchReview {
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
  workflowUrl: WorkflowUrl;
}

function Detail(props: DetailProps) {
  const { batch, progress, workflowUrl } = props;
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Batches' }}
        title={
          <>
            {batch.rowCount.toLocaleString('en')} payouts <Status value={batch.status} />{' '}
            <ModeMark mode={batch.mode} />
          </>
        }
        lead={
          <>
            {batch.accountName} · {batch.reference} · <Time at={batch.createdAt} />
          </>
        }
      >
        <WorkflowLink id={batch.id} urlOf={workflowUrl} />
      </PageHead>
      <Result {...props} />
      <div class="split">
        <div>
          <Card title="Manifest" lead="An approval is about exactly these rows.">
            <Facts
              rows={[
                ['Amounts', <Sums totals={batch.totals} />],
                ['Rows', batch.rowCount.toLocaleString('en')],
                [
                  'SHA-256',
                  <>
                    <Address value={batch.manifestSha256} />{' '}
                    <CopyButton value={batch.manifestSha256} label="Copy the hash" />
                  </>,
                ],
                ['Description', batch.description],
              ]}
            />
          </Card>
          {batch.reviewReasons.length === 0 ? null : (
            <Card title="Why it is reviewed" lead="Rules that apply to the batch or to rows.">
              <ul class="why">
                {batch.reviewReasons.map((reason) => (
                  <li>{REVIEW_REASON_SENTENCES[reason]}</li>
                ))}
              </ul>
            </Card>
          )}
          <Decision {...props} />
          <Rows {...props} />
        </div>
        <div>
          <Card title="Progress">
            <Facts
              rows={[
                ['Waiting', progress.waiting.toLocaleString('en')],
                ['Processing', progress.processing.toLocaleString('en')],
                ['Sent', progress.sent.toLocaleString('en')],
                ['Failed', progress.failed.toLocaleString('en')],
                ['Returned', progress.returned.toLocaleString('en')],
                ['Approved by', batch.approvedBy],
                ['Ended by', batch.ending === null ? null : (batch.endedBy ?? 'The gateway')],
                ['Reason', batch.endingReason],
                ['Closed', batch.closedAt === null ? null : <Time at={batch.closedAt} seconds />],
              ]}
            />
          </Card>
          <Decisions {...props} />
        </div>
      </div>
    </>
  );
}

/** What became of the decision that led here. */
function Result({ asked, decisions }: DetailProps) {
  const decision = decisions.find(({ id }) => id === asked.get('decision'));
  if (decision === undefined && !asked.has('late')) return null;
  if (decision === undefined) {
    return <Alert tone="bad" title="Your decision had no effect: the batch was already decided." />;
  }
  const { outcome } = decision;
  const tone =
    outcome === 'applied' || outcome === 'counted' ? 'good' : outcome === null ? 'wait' : 'bad';
  return <Alert tone={tone} title={outcomeText(decision)} />;
}

function Decision(props: DetailProps) {
  const { batch, mayDecide, decider, form } = props;
  if (!mayDecide || batch.ending !== null) return null;
  const may = (kind: 'approve' | 'reject' | 'stop') =>
    payoutBatchStatusesBefore(kind).includes(batch.status);
  if (!may('stop')) return null;
  return (
    <Card title="Decision">
      {may('approve') ? <Approval {...props} /> : null}
      {may('reject') ? (
        <Ending batch={batch} kind="reject" form={form} hint="The merchant reads it." />
      ) : null}
      {may('approve') ? null : (
        <Ending batch={batch} kind="stop" form={form} hint="For the audit log." />
      )}
      {decider.mayReview ? null : <p class="muted">Your role was changed. Sign in again.</p>}
    </Card>
  );
}

function Approval({ batch, decider, decisions, form }: DetailProps) {
  const first = decisions.find(({ outcome }) => outcome === 'counted');
  const { needsTwo, hadKey, hasCounted, isRelated } = decider;
  const isBarred = needsTwo && (hadKey || hasCounted || isRelated);
  return (
    <>
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
            hint="For the audit log."
            form={form}
            maxLength={REASON_LENGTH_MAX}
          />
          <div>
            <button class="btn" data-variant="primary">
              {needsTwo && first === undefined ? 'Give the first approval for' : 'Approve'}{' '}
              {batch.rowCount.toLocaleString('en')} payouts
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

function Rows({ batch, payouts }: DetailProps) {
  const isPart = payouts.length < batch.rowCount;
  return (
    <Card
      title="Rows"
      lead={
        isPart
          ? `The first ${payouts.length} of ${batch.rowCount.toLocaleString('en')}; rows that a review rule names come first.`
          : 'Rows that a review rule names come first.'
      }
      flush
    >
      <Table
        caption="Rows"
        rows={payouts}
        empty={null}
        columns={[
          { label: 'Row', right: true, cell: ({ batchRow }) => batchRow },
          {
            label: 'Amount',
            right: true,
            cell: ({ id, amount, currency }) => (
              <a href={`${PREFIX}/payouts/${id}`}>
                <Money amount={amount} currency={currency} />
              </a>
            ),
          },
          { label: 'Status', cell: ({ status }) => <Status value={status} /> },
          {
            label: 'Destination',
            cell: ({ destinationValue, network, destinationType }) => (
              <>
                <code class="break">{destinationValue}</code>
                <small>{words(network ?? destinationType)}</small>
              </>
            ),
          },
          {
            label: 'Why it is reviewed',
            wide: true,
            cell: ({ reviewReasons }) =>
              reviewReasons.map((reason) => <div>{REVIEW_REASON_SENTENCES[reason]}</div>),
          },
        ]}
      />
    </Card>
  );
}

function Decisions({ decisions }: DetailProps) {
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
            <small>{outcomeText(decision)}</small>
            {decision.reason === null ? null : <small>{decision.reason}</small>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
