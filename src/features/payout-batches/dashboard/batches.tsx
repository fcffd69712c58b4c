/** Batches of payouts: the list, one batch with its progress, and its proof as a file. */
import type { ComponentChildren } from 'preact';
import {
  isFinalPayoutBatch,
  mayLeaveOutRows,
  payoutBatchStatusesBefore,
} from '../../../domain/payout-batch';
import type { ApiError } from '../../../domain/errors';
import { presentBatchProof } from '../payout-batches-contract';
import type { Creator, DashboardServices, PersonDecision } from '../../../shell/dashboard/services';
import type { BatchWithProgress } from '../payout-batches';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  ReviewReasons,
  Status,
  Table,
  Time,
} from '../../../kit/pages/components';
import {
  Follows,
  LeaveOutForm,
  LiveStatus,
  ProgressCard,
  RowsToReview,
  rowsOf,
  Sums,
} from '../pages/batch-parts';
import { Confirm, EMPTY_FORM, type FormState } from '../../../kit/pages/forms';
import { creatorRow } from '../../../kit/pages/history';
import { Icon } from '../../../kit/pages/icon';
import { CreateLink, ListPager, PER_PAGE, positionOf, ToExport } from '../../../kit/pages/lists';
import { page, redirect } from '../../../kit/pages/site';
import { waitingBatch } from '../../approvals/second-person';
import { MAKE, mayMake, personOf, RefusalAlert, tryForm } from '../../../kit/pages/creation';
import { decisionRows, secondPersonOf } from '../../approvals/dashboard/waiting';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { PayoutTable } from '../../payouts/dashboard/payouts';
import { newBatchPages } from './new-batch';
import { writeSheet } from '../../../kit/pages/sheet';

const NAV = { nav: 'batches' };

export function batchPages(services: DashboardServices): MerchantRoute[] {
  const { money, payouts } = services;
  const callerOf = (visit: MerchantVisit) => money.callerOf(personOf(visit));
  const show = async (visit: MerchantVisit, form: FormState, refusal: ApiError | null = null) => {
    const { query, base } = visit;
    const { payoutBatches } = money;
    const found = await payoutBatches.get(callerOf(visit), visit.id);
    const { batch } = found;
    const path = `${base}/batches/${batch.id}`;
    const mayLeaveOut = mayMake(visit) && mayLeaveOutRows(batch);
    const filters = { batch: batch.id };
    const { items, next } = await payouts(visit, {
      limit: PER_PAGE,
      after: positionOf(query),
      filters,
    });
    const body = (
      <>
        <RefusalAlert refusal={refusal} />
        <Detail
          {...found}
          base={base}
          path={path}
          secondPerson={await secondPersonOf(services, visit, waitingBatch(batch))}
          creator={await services.creatorOf(batch.apiKeyId)}
          decisions={await services.decisions(visit, batch.id)}
          mayChange={mayMake(visit)}
        />
        <Follows batch={batch} id="batch-rows">
          {mayLeaveOut ? (
            <>
              <RowsToReview
                batch={batch}
                rows={await payoutBatches.rowsToReview(callerOf(visit), batch.id)}
                payouts={`${base}/payouts`}
                mayLeaveOut
              />
              <LeaveOutForm action={`${path}/leave_out`} form={form} />
            </>
          ) : (
            <>
              <Card title="Rows" flush>
                <PayoutTable rows={items} path={`${base}/payouts`} empty={null} />
              </Card>
              <ListPager path={path} query={query} next={next} />
            </>
          )}
        </Follows>
      </>
    );
    return page(`Batch ${batch.reference}`, body, { ...NAV, status: refusal?.status ?? 200 });
  };
  return [
    ...newBatchPages(services),
    get('/batches', 'read', async (visit) => {
      const { query, base } = visit;
      const list = { limit: PER_PAGE, after: positionOf(query) };
      const { items, next } = await money.payoutBatches.list(callerOf(visit), list);
      const path = `${base}/batches`;
      const body = (
        <>
          <PageHead title="Batches" lead="Many payouts that are reserved and approved together.">
            <ToExport base={visit.base} kind="batches" query={query} />
            {mayMake(visit) ? <CreateLink path={path} label="Create a batch" /> : null}
          </PageHead>
          <BatchTable rows={items} path={path} />
          <ListPager path={path} query={query} next={next} />
        </>
      );
      return page('Batches', body, NAV);
    }),
    get('/batches/:id', 'read', (visit) => show(visit, EMPTY_FORM)),
    post('/batches/:id/leave_out', MAKE, async (visit) => {
      const rows = rowsOf(visit.form);
      const sent = await tryForm(visit.form, () =>
        money.payoutBatches.leaveOut(callerOf(visit), visit.id, rows),
      );
      if (sent.refusal !== null) return show(visit, sent.form, sent.refusal);
      return redirect(`${visit.base}/batches/${visit.id}`);
    }),
    post('/batches/:id/stop', MAKE, async (visit) => {
      const { id } = visit;
      await money.payoutBatches.stop(callerOf(visit), id);
      return redirect(`${visit.base}/batches/${id}`);
    }),
    ...proofPages(services),
  ];
}

/** What became of the money of each row, as files. */
function proofPages({ money }: DashboardServices): MerchantRoute[] {
  const proofOf = async (visit: MerchantVisit) =>
    presentBatchProof(await money.payoutBatches.proof(money.callerOf(personOf(visit)), visit.id));
  return [
    get('/batches/:id/proof.json', { cost: 'export', needs: 'read' }, async (visit) => {
      const content = [JSON.stringify(await proofOf(visit), null, 2)];
      const name = `${visit.id}-proof.json`;
      return { kind: 'download', name, type: 'application/json; charset=utf-8', content };
    }),
    get('/batches/:id/proof.csv', { cost: 'export', needs: 'read' }, async (visit) => {
      const { rows } = await proofOf(visit);
      const lines = rows.map((row) => PROOF_COLUMNS.map((column) => String(row[column] ?? '')));
      const content = [writeSheet([PROOF_COLUMNS, ...lines])];
      const name = `${visit.id}-proof.csv`;
      return { kind: 'download', name, type: 'text/csv; charset=utf-8', content };
    }),
  ];
}

const PROOF_COLUMNS = [
  'row',
  'id',
  'reference',
  'status',
  'currency',
  'amount',
  'total_debit',
  'tx_hash',
  'left_out',
  'manifest',
] as const;

function BatchTable({ rows, path }: { rows: readonly BatchWithProgress[]; path: string }) {
  return (
    <Card flush>
      <Table
        caption="Batches"
        rows={rows}
        empty={
          <Empty icon="layers" title="No batches yet">
            <p>Upload a table to pay many recipients at once, or use the API.</p>
          </Empty>
        }
        columns={[
          {
            label: 'Reference',
            cell: ({ batch }) => <a href={`${path}/${batch.id}`}>{batch.reference}</a>,
          },
          { label: 'Status', cell: ({ batch }) => <Status value={batch.status} /> },
          { label: 'Rows', right: true, cell: ({ batch }) => batch.rowCount.toLocaleString('en') },
          { label: 'Amounts', right: true, cell: ({ batch }) => <Sums totals={batch.totals} /> },
          {
            label: 'Sent',
            right: true,
            wide: true,
            cell: ({ progress }) => progress.sent.toLocaleString('en'),
          },
          { label: 'Created', wide: true, cell: ({ batch }) => <Time at={batch.createdAt} /> },
        ]}
      />
    </Card>
  );
}

interface DetailProps extends BatchWithProgress {
  base: string;
  path: string;
  secondPerson: ComponentChildren;
  creator: Creator;
  decisions: readonly PersonDecision[];
  mayChange: boolean;
}

function Detail(props: DetailProps) {
  const { batch, progress, base, path, secondPerson, creator, decisions, mayChange } = props;
  const isOpen = !isFinalPayoutBatch(batch.status);
  const mayStop = mayChange && payoutBatchStatusesBefore('stop').includes(batch.status);
  return (
    <>
      <PageHead
        back={{ href: `${base}/batches`, label: 'Batches' }}
        here={batch.reference}
        title={
          <>
            {batch.reference} <LiveStatus batch={batch} />
          </>
        }
        lead={
          <>
            {batch.rowCount.toLocaleString('en')} payouts · <Time at={batch.createdAt} />
          </>
        }
      >
        <Follows batch={batch} id="batch-actions">
          {mayStop && batch.ending === null ? (
            <Confirm
              action={`${path}/stop`}
              label="Stop batch"
              icon="ban"
              effect="The funds of all rows that wait are returned. Rows that were released continue."
              confirm="Stop this batch now"
            />
          ) : null}
        </Follows>
      </PageHead>
      <Follows batch={batch} id="batch-notices">
        {isOpen && batch.ending === 'stop' ? (
          <Alert tone="wait" title="The batch is being stopped.">
            <p>The funds of the rows that wait are being returned.</p>
          </Alert>
        ) : null}
        {secondPerson}
        {batch.status === 'stopped' && batch.endedBy === null && batch.endingReason !== null ? (
          <Alert tone="bad" title="The batch was stopped. The funds were returned.">
            <p>{batch.endingReason}</p>
          </Alert>
        ) : null}
        {batch.status === 'under_review' && batch.ending === null ? (
          <Alert tone="wait" title="An operator must approve this batch.">
            <ReviewReasons reasons={batch.reviewReasons} requester={batch.apiKeyId} />
          </Alert>
        ) : null}
        {batch.status === 'rejected' ? (
          <Alert tone="bad" title="An operator rejected this batch.">
            <p>{batch.endingReason}</p>
          </Alert>
        ) : null}
      </Follows>
      <div class="grid">
        <ProgressCard batch={batch} progress={progress} />
        <Card title="Totals">
          <Facts
            rows={[
              ...batch.totals.flatMap(
                ({ currency, amount, serviceFee, networkFee, totalDebit }) => {
                  const money = (value: string) => <Money amount={value} currency={currency} />;
                  return [
                    [`Amount, ${currency}`, money(amount)],
                    ['Service fee', money(serviceFee)],
                    ['Network fee', money(networkFee)],
                    ['Total debit', money(totalDebit)],
                  ] as const;
                },
              ),
              ['ID', <Id value={batch.id} />],
              ['Manifest (SHA-256)', <code class="break">{batch.manifestSha256}</code>],
              ['Description', batch.description],
              creatorRow(creator, base),
              ...decisionRows(decisions),
            ]}
          />
          <div class="actions">
            <a class="btn" data-variant="outline" href={`${path}/proof.csv`}>
              <Icon name="download" /> Proof as CSV
            </a>
            <a class="btn" data-variant="outline" href={`${path}/proof.json`}>
              <Icon name="download" /> Proof as JSON
            </a>
          </div>
        </Card>
      </div>
    </>
  );
}
