/** What the dashboard and the console show of a batch: sums, progress, and its rows before the approval. */
import type { ComponentChildren } from 'preact';
import type {
  PayoutBatch,
  PayoutBatchProgress,
  PayoutBatchTotals,
} from '../../../domain/payout-batch';
import { isFinalPayoutBatch, LEFT_OUT_AT_ONCE_MAX } from '../../../domain/payout-batch';
import { reviewReasonSentence } from '../../../domain/review';
import type { BatchRow } from '../batch-reviews';
import { Card, Facts, Money, Status, Table, Time, words } from '../../../kit/pages/components';
import { Follows as FollowsPart } from '../../../kit/pages/follow';
import { Field, type FormState } from '../../../kit/pages/forms';

/** The form that takes the ticks of the rows: a table cannot be inside it and beside other forms. */
const LEAVE_OUT_FORM = 'leave-out';

export function Sums({ totals }: { totals: readonly PayoutBatchTotals[] }) {
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

/** The status; the page's script brings the newest one until the batch is closed. */
export function LiveStatus({ batch }: { batch: PayoutBatch }) {
  return (
    <span id="batch-status" {...follow(batch)}>
      <Status value={batch.status} />
    </span>
  );
}

/** A part of the page that changes with the batch. */
export function Follows(props: { batch: PayoutBatch; id: string; children: ComponentChildren }) {
  const { batch, id, children } = props;
  return (
    <FollowsPart id={id} isOpen={!isFinalPayoutBatch(batch.status)}>
      {children}
    </FollowsPart>
  );
}

interface ProgressProps {
  batch: PayoutBatch;
  progress: PayoutBatchProgress;
  /** Further facts. */
  more?: Parameters<typeof Facts>[0]['rows'];
}

export function ProgressCard({ batch, progress, more = [] }: ProgressProps) {
  const { waiting, processing, sent, failed, returned, leftOut } = progress;
  const count = (value: number) => value.toLocaleString('en');
  return (
    <div id="batch-progress" {...follow(batch)}>
      <Card title="Progress">
        <progress
          aria-label="Rows that have ended"
          max={batch.rowCount}
          value={batch.rowCount - waiting - processing}
        >
          {count(sent)} of {count(batch.rowCount)}
        </progress>
        <Facts
          rows={[
            ['Waiting', count(waiting)],
            ['Processing', count(processing)],
            ['Sent', count(sent)],
            ['Failed', count(failed)],
            ['Returned', count(returned)],
            ...(leftOut === 0 ? [] : [['Left out', count(leftOut)] as const]),
            ...more,
            ['Closed', batch.closedAt === null ? null : <Time at={batch.closedAt} seconds />],
          ]}
        />
      </Card>
    </div>
  );
}

function follow({ status }: PayoutBatch): { 'data-follow'?: '' } {
  return isFinalPayoutBatch(status) ? {} : { 'data-follow': '' };
}

interface RowsProps {
  batch: PayoutBatch;
  rows: readonly BatchRow[];
  /** The folder of the payouts' pages. */
  payouts: string;
  /** Whether the visitor may leave rows out now. */
  mayLeaveOut: boolean;
}

/** The rows to look at before the approval; those that need a person come first. */
export function RowsToReview({ batch, rows, payouts, mayLeaveOut }: RowsProps) {
  const isPart = rows.length < batch.rowCount;
  const order = 'Rows that match a review rule come first.';
  // The page has the reasons of the batch above.
  const isSame = rows.every((row) => String(row.reviewReasons) === String(batch.reviewReasons));
  return (
    <Card
      title="Rows"
      lead={
        isPart
          ? `The first ${rows.length} of ${batch.rowCount.toLocaleString('en')} rows. ${order}`
          : `All rows. ${order}`
      }
      flush
    >
      <Table
        caption="Rows"
        rows={rows}
        empty={null}
        columns={[
          ...(mayLeaveOut ? [{ label: 'Leave out', cell: Tick }] : []),
          { label: 'Row', right: true, cell: ({ batchRow }) => batchRow },
          {
            label: 'Amount',
            right: true,
            cell: ({ id, amount, currency }) => (
              <a href={`${payouts}/${id}`}>
                <Money amount={amount} currency={currency} />
              </a>
            ),
          },
          { label: 'Status', cell: ({ status }) => <Status value={status} /> },
          {
            label: 'Destination',
            cell: ({ destinationValue, network, destinationType, reference }) => (
              <>
                <code class="break">{destinationValue}</code>
                <small>
                  {words(network ?? destinationType)} · {reference}
                </small>
              </>
            ),
          },
          ...(isSame ? [] : [WHY]),
        ]}
      />
    </Card>
  );
}

const WHY = {
  label: 'Why it is reviewed',
  wide: true,
  cell: ({ reviewReasons, apiKeyId }: BatchRow) =>
    reviewReasons.map((reason) => <div>{reviewReasonSentence(reason, apiKeyId)}</div>),
};

function Tick({ batchRow, awaitsBatch }: BatchRow) {
  if (!awaitsBatch) return <small>Left out</small>;
  return (
    <input
      class="input"
      type="checkbox"
      form={LEAVE_OUT_FORM}
      name="row"
      value={batchRow}
      aria-label={`Leave out row ${batchRow}`}
    />
  );
}

interface LeaveOutProps {
  action: string;
  form: FormState;
  /** Further fields. */
  children?: ComponentChildren;
}

/** The form below the rows, which sends the ticked rows and others by their numbers. */
export function LeaveOutForm({ action, form, children }: LeaveOutProps) {
  return (
    <Card
      title="Leave rows out"
      lead="Their funds are returned, the other rows continue, and the manifest gets a new hash."
    >
      <form method="post" action={action} id={LEAVE_OUT_FORM} class="stack">
        <Field
          name="rows"
          label="Row numbers, beside the rows that are ticked above (optional)"
          hint={`Such as 3, 17. At most ${LEFT_OUT_AT_ONCE_MAX} rows at a time.`}
          form={form}
        />
        {children}
        <div>
          <button class="btn" data-variant="outline">
            Leave these rows out
          </button>
        </div>
      </form>
    </Card>
  );
}

/** The row numbers of the form; a text that is no number is left out. */
export function rowsOf(form: URLSearchParams): number[] {
  const typed = (form.get('rows') ?? '').split(/[\s,;]+/).filter((text) => text !== '');
  const numbers = [...form.getAll('row'), ...typed];
  return numbers.map((text) => (/^\d{1,6}$/.test(text) ? Number.parseInt(text, 10) : 0));
}
