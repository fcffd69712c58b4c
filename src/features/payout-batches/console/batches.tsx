/** Batches of payouts: the routes and the list. */
import { InvalidInput } from '../../../kit/service/refusal';
import type { BatchReviews } from '../batch-reviews';
import { rowsOf, Sums } from '../pages/batch-parts';
import { Card, Empty, PageHead, Status, Table, Time } from '../../../kit/pages/components';
import { draftForm, type FormState } from '../../../kit/pages/forms';
import { chosen, ListPager, PER_PAGE, positionOf } from '../../../kit/pages/lists';
import { type Answer, page, redirect } from '../../../kit/pages/site';
import type { WorkflowUrl } from '../../../kit/pages/workflow-link';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { ModeMark } from '../../payouts/console/parts';
import { BatchDetail } from './batch';

const PATH = `${PREFIX}/batches`;
const NAV = { nav: 'batches' };

export function batchPages(batches: BatchReviews, workflowUrl: WorkflowUrl): OperatorRoute[] {
  const show = async (visit: OperatorVisit, id: string, form: FormState): Promise<Answer> => {
    const review = await batches.review(id, visit.session);
    const body = (
      <BatchDetail
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
  const decide = (kind: 'approve' | 'reject' | 'stop' | 'leave_out'): OperatorRoute =>
    post(`/batches/:id/${kind}`, 'review', async (visit) => {
      const { form, id: batchId, session } = visit;
      const field = kind === 'approve' ? 'note' : `${kind}_reason`;
      const order = {
        id: form.get('decision') ?? '',
        batchId,
        kind,
        manifestSha256: form.get('manifest') ?? '',
        reason: form.get(field) ?? '',
        ...(kind === 'leave_out' ? { rowNumbers: rowsOf(form) } : {}),
      };
      try {
        const result = await batches.decide(order, session);
        if (result.kind === 'sign_in_again')
          return { kind: result.kind, page: `${PATH}/${batchId}` };
        const told = result.kind === 'stored' ? `decision=${result.decision.id}` : 'late';
        return redirect(`${PATH}/${batchId}?${told}`);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        const errors = { [error.field === 'rows' ? 'rows' : field]: error.message };
        return show(visit, batchId, { values: form, errors });
      }
    });
  return [
    get('/batches', 'read', async ({ query }) => {
      const open = chosen(query, 'show', ['open', 'all']) !== 'all';
      const list = { limit: PER_PAGE, after: positionOf(query), open };
      const { items, next } = await batches.list(list);
      const body = <BatchList rows={items} query={query} next={next} open={open} />;
      return page('Batches', body, NAV);
    }),
    get('/batches/:id', 'read', (visit) => show(visit, visit.id, draftForm(visit))),
    decide('approve'),
    decide('reject'),
    decide('stop'),
    decide('leave_out'),
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
    ? 'Open batches of all accounts, oldest first.'
    : 'Batches of all accounts, newest first.';
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
              label: 'Reference',
              cell: ({ id, mode, reference, accountId, accountName }) => (
                <>
                  <a class="break" href={`${PATH}/${id}`}>
                    {reference}
                  </a>{' '}
                  <ModeMark mode={mode} />
                  <small>
                    <a href={`${PREFIX}/accounts/${accountId}`}>{accountName}</a>
                  </small>
                </>
              ),
            },
            { label: 'Rows', right: true, cell: ({ rowCount }) => rowCount.toLocaleString('en') },
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
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Card>
      <ListPager path={PATH} query={query} next={next} />
    </>
  );
}

const ENDING = { stop: 'Being stopped', reject: 'Being rejected' };
