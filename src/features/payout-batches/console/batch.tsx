/** One batch: its manifest, why it is reviewed, the decision, and its rows. */
import { mayLeaveOutRows } from '../../../domain/payout-batch';
import { reviewReasonSentence } from '../../../domain/review';
import { Follows, LiveStatus, ProgressCard, RowsToReview, Sums } from '../pages/batch-parts';
import { Card, CopyButton, Facts, PageHead, Time } from '../../../kit/pages/components';
import { WorkflowLink, type WorkflowUrl } from '../../../kit/pages/workflow-link';
import { PREFIX } from '../../../kit/pages/operator-page';
import { Address, ModeMark } from '../../payouts/console/parts';
import { Decision, DecisionResult, Decisions, type DetailProps, LeaveOut } from './decision';

const PATH = `${PREFIX}/batches`;

export function BatchDetail(props: DetailProps & { workflowUrl: WorkflowUrl }) {
  const { batch, progress, payouts, mayDecide, workflowUrl } = props;
  const mayLeaveOut = mayDecide && mayLeaveOutRows(batch);
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Batches' }}
        here={batch.reference}
        title={
          <>
            {batch.rowCount.toLocaleString('en')} payouts <LiveStatus batch={batch} />{' '}
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
      <Follows batch={batch} id="batch-result">
        <DecisionResult {...props} />
      </Follows>
      <div class="split">
        <div>
          <Card title="Manifest" lead="An approval applies to exactly these rows.">
            <Facts
              rows={[
                ['Amounts', <Sums totals={batch.totals} />],
                ['Rows', (batch.rowCount - progress.leftOut).toLocaleString('en')],
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
                  <li>{reviewReasonSentence(reason, batch.apiKeyId)}</li>
                ))}
              </ul>
            </Card>
          )}
          <Follows batch={batch} id="batch-decision">
            <Decision {...props} />
          </Follows>
        </div>
        <div>
          <ProgressCard
            batch={batch}
            progress={progress}
            more={[
              ['Approved by', batch.approvedBy],
              ['Ended by', batch.ending === null ? null : (batch.endedBy ?? 'The gateway')],
              ['Reason', batch.endingReason],
            ]}
          />
          <Decisions {...props} />
        </div>
      </div>
      <Follows batch={batch} id="batch-rows">
        <RowsToReview
          batch={batch}
          rows={payouts}
          payouts={`${PREFIX}/payouts`}
          mayLeaveOut={mayLeaveOut}
        />
        {mayLeaveOut ? <LeaveOut {...props} /> : null}
      </Follows>
    </>
  );
}
