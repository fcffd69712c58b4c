/** The review queue, and the approval of a selection of it. */
import { MODES } from '../../domain/mode';
import type { PayoutDecision } from '../../domain/payout-decision';
import {
  type LeftOut,
  newDecisionId,
  type PayoutReviews,
  type ReviewedPayout,
  type Selection,
  SELECTION_MAX,
  whyLeftOut,
} from '../../services/payout-reviews';
import {
  Alert,
  Card,
  type Column,
  Empty,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../web/components';
import {
  chosen,
  Filters,
  isFiltered,
  ListPager,
  NoMatch,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../web/lists';
import { page, redirect } from '../../web/site';
import { type OperatorRoute, PREFIX } from '../operator-page';
import { outcomeText } from '../payouts/outcome';
import { Address, ApprovalsText, ModeMark, sinceText, WhyReviewed } from '../payouts/parts';

const PATH = `${PREFIX}/queue`;
const NAV = { nav: 'queue' };

export function queuePages(reviews: PayoutReviews): OperatorRoute[] {
  return [
    {
      method: 'get',
      path: '/queue',
      needs: 'read',
      run: async ({ query, may }) => {
        const { items, next } = await reviews.queue({
          limit: PER_PAGE,
          after: positionOf(query),
          filters: filtersOf(query),
        });
        const mayDecide = may('review');
        return page(
          'Review queue',
          <>
            <PageHead
              title="Review queue"
              lead="Payouts of all accounts that wait for an operator, the longest waiting first."
            >
              <a class="btn" data-variant="outline" href={`${PREFIX}/four-eyes`}>
                Two approvals
              </a>
            </PageHead>
            <Filters
              path={PATH}
              query={query}
              options={[['mode', 'Mode', MODES]]}
              texts={[
                ['account', 'Account ID'],
                ['currency', 'Currency'],
              ]}
              days={false}
            />
            <Queue rows={items} query={query} mayDecide={mayDecide} />
            <ListPager path={PATH} query={query} next={next} />
          </>,
          NAV,
        );
      },
    },
    {
      method: 'get',
      path: '/queue/selection',
      needs: 'review',
      run: async ({ query }) => {
        const selection = await reviews.select(query.getAll('id'));
        return page('Approve a selection', <Chosen {...selection} />, NAV);
      },
    },
    {
      method: 'post',
      path: '/queue/approve',
      needs: 'review',
      run: async ({ form, session }) => {
        const orders = form
          .getAll('order')
          .slice(0, SELECTION_MAX)
          .map((text) => {
            const [payoutId = '', id = ''] = text.split(' ');
            return { payoutId, id };
          });
        const outcome = await reviews.approveSelection(orders, session);
        if (outcome === 'sign_in_again') {
          const ids = orders.map(({ payoutId }) => ['id', payoutId]);
          const selection = `${PATH}/selection?${new URLSearchParams(ids).toString()}`;
          return { kind: 'sign_in_again', page: selection };
        }
        const asked = orders.flatMap(({ payoutId, id }) => [
          ['decision', id],
          ['payout', payoutId],
        ]);
        return redirect(`${PATH}/decided?${new URLSearchParams(asked).toString()}`);
      },
    },
    {
      method: 'get',
      path: '/queue/decided',
      needs: 'read',
      run: async ({ query, session }) => {
        const decisions = await reviews.decisions(query.getAll('decision'), session);
        const asked = query.getAll('payout').slice(0, SELECTION_MAX);
        return page('Decided', <DecidedList asked={asked} decisions={decisions} />, NAV);
      },
    },
  ];
}

function filtersOf(query: URLSearchParams) {
  const mode = chosen(query, 'mode', MODES);
  const accountId = textOf(query, 'account');
  const currency = textOf(query, 'currency')?.toUpperCase();
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(currency === undefined ? {} : { currency }),
  };
}

const COLUMNS: readonly Column<ReviewedPayout>[] = [
  {
    label: 'Waiting',
    cell: ({ createdAt }) => (
      <>
        <b>{sinceText(createdAt)}</b>
        <small>
          <Time at={createdAt} />
        </small>
      </>
    ),
  },
  {
    label: 'Amount',
    right: true,
    cell: (payout) => (
      <>
        <a href={`${PREFIX}/payouts/${payout.id}`}>
          <Money amount={payout.amount} currency={payout.currency} />
        </a>
        <small>
          <ModeMark mode={payout.mode} />
        </small>
      </>
    ),
  },
  {
    label: 'Destination',
    cell: ({ destinationValue, destinationMemo, network, destinationType, accountName }) => (
      <>
        <Address value={destinationValue} />
        {destinationMemo === null ? null : <small>Memo {destinationMemo}</small>}
        <small>
          {words(network ?? destinationType)} · {accountName}
        </small>
      </>
    ),
  },
  {
    label: 'Why it is reviewed',
    cell: (payout) => (
      <>
        <WhyReviewed payout={payout} />
        <ApprovalsText payout={payout} />
      </>
    ),
  },
];

/** Instead of the tick: it is decided on its page. */
const DECIDE_ON_PAGE: Record<LeftOut, string> = {
  decided: 'Decided',
  four_eyes: 'Two approvals: decide on its page',
  new_destination: 'First destination: decide on its page',
};

interface QueueProps {
  rows: readonly ReviewedPayout[];
  query: URLSearchParams;
  mayDecide: boolean;
}

function Queue({ rows, query, mayDecide }: QueueProps) {
  const select: Column<ReviewedPayout> = {
    label: 'Select',
    cell: (payout) => {
      const why = whyLeftOut(payout);
      if (why !== null) return <small>{DECIDE_ON_PAGE[why]}</small>;
      const { id, amount, currency } = payout;
      return (
        <input
          class="input"
          type="checkbox"
          name="id"
          value={id}
          aria-label={`Select ${amount} ${currency}, ${id}`}
        />
      );
    },
  };
  const table = (
    <Card flush>
      <Table
        caption="Payouts under review"
        rows={rows}
        columns={mayDecide ? [select, ...COLUMNS] : COLUMNS}
        empty={
          isFiltered(query) ? (
            <NoMatch path={PATH} what="payouts under review" />
          ) : (
            <Empty icon="inbox" title="No payout waits for a review">
              <p>A live payout appears here if its account is reviewed or a rule holds it.</p>
            </Empty>
          )
        }
      />
    </Card>
  );
  if (!mayDecide || rows.length === 0) return <div class="queue">{table}</div>;
  return (
    <form action={`${PATH}/selection`} class="queue">
      {table}
      <div>
        <button class="btn" data-variant="outline">
          Approve the selected payouts …
        </button>
      </div>
    </form>
  );
}

const WHY_LEFT_OUT: Record<LeftOut, string> = {
  decided: 'It is no longer under review',
  four_eyes: 'It requires two approvals: decide on its page',
  new_destination: 'The account has not paid this destination before: decide on its page',
};

function Chosen({ approvable, totals, leftOut }: Selection) {
  const orders = approvable.map(({ id }) => `${id} ${newDecisionId()}`);
  return (
    <>
      <PageHead
        title="Approve a selection"
        lead="Compare the addresses. Each payout is decided separately."
        back={{ href: PATH, label: 'Review queue' }}
      />
      {approvable.length === 0 ? (
        <Alert tone="note" title="Nothing to approve">
          <p>Select payouts in the review queue, at most {SELECTION_MAX}.</p>
        </Alert>
      ) : (
        <form method="post" action={`${PATH}/approve`} class="queue">
          <Card title="Will be approved and sent" flush>
            <Table caption="Payouts to approve" rows={approvable} columns={COLUMNS} empty={null} />
          </Card>
          {orders.map((order) => (
            <input type="hidden" name="order" value={order} />
          ))}
          <div class="totals">
            {totals.map(({ mode, currency, count, amount }) => (
              <p>
                <ModeMark mode={mode} /> {count === 1 ? '1 payout' : `${count} payouts`},{' '}
                <Money amount={amount} currency={currency} exact />
              </p>
            ))}
          </div>
          <div>
            <button class="btn" data-variant="primary">
              Approve and send{' '}
              {approvable.length === 1 ? '1 payout' : `${approvable.length} payouts`}
            </button>
          </div>
        </form>
      )}
      {leftOut.length === 0 ? null : (
        <Card title="Left out" flush>
          <Table
            caption="Payouts that are left out"
            rows={leftOut}
            empty={null}
            columns={[
              {
                label: 'Payout',
                cell: ({ payout }) => (
                  <a href={`${PREFIX}/payouts/${payout.id}`}>
                    <Money amount={payout.amount} currency={payout.currency} />
                    <small>
                      <code>{payout.id}</code>
                    </small>
                  </a>
                ),
              },
              { label: 'Status', cell: ({ payout }) => <Status value={payout.status} /> },
              { label: 'Why', cell: ({ why }) => WHY_LEFT_OUT[why] },
            ]}
          />
        </Card>
      )}
    </>
  );
}

interface DecidedProps {
  asked: readonly string[];
  decisions: readonly PayoutDecision[];
}

function DecidedList({ asked, decisions }: DecidedProps) {
  const rows = asked.map((id) => ({
    id,
    decision: decisions.find(({ payoutId }) => payoutId === id),
  }));
  return (
    <>
      <PageHead
        title="Result of the selection"
        back={{ href: PATH, label: 'Review queue' }}
        lead={`${decisions.filter(({ outcome }) => outcome === 'applied').length} of ${rows.length} approved`}
      />
      <Card flush>
        <Table
          caption="Decisions"
          rows={rows}
          empty={<Empty icon="inbox" title="Nothing was decided" />}
          columns={[
            {
              label: 'Payout',
              cell: ({ id }) => (
                <a href={`${PREFIX}/payouts/${encodeURIComponent(id)}`}>
                  <code>{id}</code>
                </a>
              ),
            },
            {
              label: 'Result',
              cell: ({ decision }) =>
                decision === undefined
                  ? 'Left out: it was decided meanwhile, or has to be decided on its page'
                  : outcomeText(decision),
            },
          ]}
        />
      </Card>
    </>
  );
}
