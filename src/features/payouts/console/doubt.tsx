/** Payouts in doubt: our state beside the provider's, asked when the page is opened. */
import { MODES } from '../../../domain/mode';
import type { DoubtfulPayout, PayoutReviews, ProviderState } from '../payout-reviews';
import {
  Alert,
  Card,
  type Column,
  Empty,
  Money,
  PageHead,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { Action } from '../../../kit/pages/forms';
import {
  chosen,
  Filters,
  isFiltered,
  ListPager,
  NoMatch,
  positionOf,
} from '../../../kit/pages/lists';
import { justNow, wasJustNow } from '../../../kit/pages/just-now';
import { page, redirect } from '../../../kit/pages/site';
import { WorkflowLink, type WorkflowUrl } from '../../../kit/pages/workflow-link';
import { get, type OperatorRoute, post, PREFIX } from '../../../kit/pages/operator-page';
import { ModeMark } from './parts';
import { sinceText } from '../../../kit/pages/since';

const PATH = `${PREFIX}/in-doubt`;

type Row = DoubtfulPayout & { providerState: ProviderState };

export function doubtPages(reviews: PayoutReviews, workflowUrl: WorkflowUrl): OperatorRoute[] {
  return [
    get('/in-doubt', { cost: 'provider', needs: 'read' }, async ({ query, may }) => {
      const mode = chosen(query, 'mode', MODES) ?? null;
      const { items, next } = await reviews.inDoubt({ after: positionOf(query), mode });
      const columns = may('review') ? [...columnsOf(workflowUrl), ASK] : columnsOf(workflowUrl);
      return page(
        'In doubt',
        <>
          <PageHead
            title="In doubt"
            lead="It is not known whether the provider has these payouts. We keep checking, and the funds stay reserved."
          />
          {wasJustNow(query, 'asked') ? (
            <Alert tone="good" title="The payout’s workflow was told to ask the provider." />
          ) : null}
          {wasJustNow(query, 'no-answer') ? (
            <Alert tone="bad" title="Temporal did not answer. The workflow asks by itself later." />
          ) : null}
          <Filters
            path={PATH}
            query={query}
            options={[['mode', 'Mode', MODES]]}
            texts={[]}
            days={false}
          />
          <Card flush>
            <Table
              caption="Payouts in doubt"
              rows={items}
              columns={columns}
              empty={
                isFiltered(query) ? (
                  <NoMatch path={PATH} what="payouts in doubt" />
                ) : (
                  <Empty icon="circle-check" title="No payout is in doubt">
                    <p>
                      A payout appears here when its submission got no clear answer. Most doubts end
                      within seconds.
                    </p>
                  </Empty>
                )
              }
            />
          </Card>
          <ListPager path={PATH} query={query} next={next} />
          <Alert tone="note" title="While a payout is in doubt">
            <p>
              Do not pay the recipient another way and do not ask the merchant for a second request:
              the payout may still be sent. It ends by itself when the provider answers.
            </p>
          </Alert>
        </>,
        { nav: 'in-doubt' },
      );
    }),
    post('/in-doubt/:id/ask', { cost: 'provider', needs: 'review' }, async ({ id }) => {
      const asked = await reviews.askProvider(id);
      return redirect(`${PATH}?${justNow(asked ? 'asked' : 'no-answer')}`);
    }),
  ];
}

function columnsOf(workflowUrl: WorkflowUrl): readonly Column<Row>[] {
  return [
    {
      label: 'In doubt for',
      cell: ({ inDoubtSince, createdAt }) => (
        <>
          <b>{sinceText(inDoubtSince ?? createdAt)}</b>
          <small>
            <Time at={inDoubtSince ?? createdAt} seconds />
          </small>
        </>
      ),
    },
    {
      label: 'Payout',
      cell: ({ id, amount, currency, mode, accountName }) => (
        <>
          <a href={`${PREFIX}/payouts/${id}`}>
            <Money amount={amount} currency={currency} />
          </a>{' '}
          <ModeMark mode={mode} />
          <small>{accountName}</small>
          <small>
            <WorkflowLink id={id} urlOf={workflowUrl} />
          </small>
        </>
      ),
    },
    {
      label: 'Here',
      cell: ({ status, attentionLevel }) => (
        <>
          {words(status)}, funds reserved
          <small>
            {attentionLevel === 0 ? 'No escalation yet' : `Attention level ${attentionLevel} of 3`}
          </small>
        </>
      ),
    },
    {
      label: 'At the provider now',
      cell: ({ provider, providerState }) => (
        <>
          {stateText(providerState)}
          <small>{words(provider)}</small>
        </>
      ),
    },
  ];
}

const ASK: Column<Row> = {
  label: 'Action',
  cell: ({ id }) => <Action action={`${PATH}/${id}/ask`} label="Ask again now" />,
};

function stateText(state: ProviderState): string {
  switch (state.kind) {
    case 'found':
      return `${words(state.status)}: ${state.amount} ${state.currency}, transfer ${state.transferId}`;
    case 'not_found':
      return 'The provider does not have it. It is submitted again.';
    case 'no_answer':
      return 'No answer within 4 seconds';
    case 'not_enabled':
      return 'The provider is not enabled in this mode';
    case 'unknown':
      return state.reason;
  }
}
