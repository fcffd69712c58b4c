/** The review queue, and the approval of a selection of it. */
import { MODES } from '../../../domain/mode';
import type { PayoutDecision } from '../../../domain/payout-decision';
import { reviewReasonSentence, type ReviewReason } from '../../../domain/review';
import {
  type LeftOut,
  newDecisionId,
  type PayoutReviews,
  QUEUE_ORDERS,
  REASON_LENGTH_MAX,
  type ReviewedPayout,
  type Selection,
  SELECTION_MAX,
  whyLeftOut,
} from '../payout-reviews';
import {
  Alert,
  Card,
  type Column,
  Empty,
  Money,
  PageHead,
  Status,
  Table,
  words,
} from '../../../kit/pages/components';
import { Follows, FollowSwitch } from '../../../kit/pages/follow';
import {
  chosen,
  Filters,
  isFiltered,
  ListPager,
  NoMatch,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../../kit/pages/lists';
import { EMPTY_FORM, Field, fieldErrors, type FormState } from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import { get, type OperatorRoute, post, PREFIX } from '../../../kit/pages/operator-page';
import { outcomeText } from './outcome';
import { Address, AmountLink, ApprovalsText, ModeMark, ReasonChips, ReferenceOf } from './parts';
import { sinceText } from '../../../kit/pages/since';

const PATH = `${PREFIX}/queue`;
const NAV = { nav: 'queue' };

export function queuePages(reviews: PayoutReviews): OperatorRoute[] {
  return [
    get('/queue', 'read', async ({ query, may }) => {
      const { items, next } = await reviews.queue({
        limit: PER_PAGE,
        after: positionOf(query),
        filters: filtersOf(query),
        order: chosen(query, 'order', QUEUE_ORDERS) ?? 'longest_waiting',
      });
      const mayDecide = may('review');
      return page(
        'Review queue',
        <>
          <PageHead
            title="Review queue"
            lead="Payouts of all accounts that wait for an operator, the longest waiting first."
          >
            <FollowSwitch />
            <a class="btn" data-variant="outline" href={`${PREFIX}/four-eyes`}>
              Two approvals
            </a>
          </PageHead>
          <Filters
            path={PATH}
            query={query}
            options={[
              ['mode', 'Mode', MODES],
              ['order', 'Order', QUEUE_ORDERS.slice(1), 'Longest waiting'],
            ]}
            texts={[
              ['account', 'Account ID'],
              ['currency', 'Currency'],
            ]}
            days={false}
          />
          <Follows id="queue" isOpen>
            <Queue rows={items} query={query} mayDecide={mayDecide} />
          </Follows>
          <ListPager path={PATH} query={query} next={next} />
        </>,
        NAV,
      );
    }),
    get('/queue/selection', 'review', async ({ query }) => {
      const selection = await reviews.select(query.getAll('id'));
      if (query.has('reject')) {
        return page('Reject a selection', <Rejected {...selection} form={EMPTY_FORM} />, NAV);
      }
      return page('Approve a selection', <Chosen {...selection} />, NAV);
    }),
    post('/queue/reject', 'review', async ({ form, session }) => {
      const orders = ordersOf(form);
      const { answer, fields } = await fieldErrors(async () => {
        await reviews.rejectSelection(orders, form.get('reason') ?? '', session);
        return decidedPage(orders);
      });
      if (answer !== null) return answer;
      const selection = await reviews.select(orders.map(({ payoutId }) => payoutId));
      const body = <Rejected {...selection} form={{ values: form, errors: fields }} />;
      return page('Reject a selection', body, { ...NAV, status: 422 });
    }),
    post('/queue/approve', 'review', async ({ form, session }) => {
      const orders = ordersOf(form);
      const outcome = await reviews.approveSelection(orders, session);
      if (outcome === 'sign_in_again') {
        const ids = orders.map(({ payoutId }) => ['id', payoutId]);
        const selection = `${PATH}/selection?${new URLSearchParams(ids).toString()}`;
        return { kind: 'sign_in_again', page: selection };
      }
      return decidedPage(orders);
    }),
    get('/queue/decided', 'read', async ({ query, session }) => {
      const asked = query.getAll('payout').slice(0, SELECTION_MAX);
      const [decisions, payouts] = await Promise.all([
        reviews.decisions(query.getAll('decision'), session),
        reviews.payouts(asked),
      ]);
      return page('Decided', <DecidedList {...{ asked, decisions, payouts }} />, NAV);
    }),
  ];
}

interface Order {
  payoutId: string;
  id: string;
}

function ordersOf(form: URLSearchParams): Order[] {
  return form
    .getAll('order')
    .slice(0, SELECTION_MAX)
    .map((text) => {
      const [payoutId = '', id = ''] = text.split(' ');
      return { payoutId, id };
    });
}

function decidedPage(orders: readonly Order[]) {
  const asked = orders.flatMap(({ payoutId, id }) => [
    ['decision', id],
    ['payout', payoutId],
  ]);
  return redirect(`${PATH}/decided?${new URLSearchParams(asked).toString()}`);
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

/**
 * @param shared the reasons that all rows have
 * @param mayTick the rows have boxes, and those that cannot be ticked say why
 */
function columnsOf(
  shared: readonly ReviewReason[],
  mayTick: boolean,
): readonly Column<ReviewedPayout>[] {
  return [
    {
      label: 'Amount',
      right: true,
      cell: (payout) => <AmountLink href={`${PREFIX}/payouts/${payout.id}`} {...payout} />,
    },
    { label: 'Reference', cell: (payout) => <ReferenceOf {...payout} /> },
    {
      label: 'Destination',
      cell: ({ destinationValue, destinationMemo, network, destinationType }) => (
        <>
          <Address value={destinationValue} />
          <small>
            {words(network ?? destinationType)}
            {destinationMemo === null ? '' : `, memo ${destinationMemo}`}
          </small>
        </>
      ),
    },
    {
      label: 'Why',
      cell: (payout) => (
        <>
          <ReasonChips
            reasons={payout.reviewReasons.filter((one) => !shared.includes(one))}
            requester={payout.apiKeyId}
          />
          <ApprovalsText payout={payout} />
          {mayTick ? <WhyNotTicked payout={payout} /> : null}
        </>
      ),
    },
    {
      label: 'Screening',
      cell: ({ screening }) =>
        screening === null ? <span class="muted">None</span> : <Status value={screening} />,
    },
    {
      label: 'Waiting',
      cell: ({ createdAt }) => (
        <time datetime={createdAt.toISOString()}>{sinceText(createdAt)}</time>
      ),
    },
  ];
}

function WhyNotTicked({ payout }: { payout: ReviewedPayout }) {
  const why = whyLeftOut(payout);
  return why === null ? null : <small id={`why-${payout.id}`}>{DECIDE_ON_PAGE[why]}</small>;
}

/** The reasons that all rows have, which the page says once above them. */
function sharedReasons(rows: readonly ReviewedPayout[]): ReviewReason[] {
  const [first, ...others] = rows;
  if (first === undefined || others.length === 0) return [];
  return first.reviewReasons.filter((reason) =>
    others.every(({ reviewReasons }) => reviewReasons.includes(reason)),
  );
}

function Shared({ reasons }: { reasons: readonly ReviewReason[] }) {
  if (reasons.length === 0) return null;
  return (
    <p class="table-note">
      Why all of these wait: {reasons.map((reason) => reviewReasonSentence(reason, null)).join(' ')}
    </p>
  );
}

/** The text in place of the box of a payout that is decided on its own page. */
const DECIDE_ON_PAGE: Record<LeftOut, string> = {
  decided: 'Decided',
  four_eyes: 'Two approvals: decide on its page',
  screening: 'Not cleared by the screening: decide on its page',
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
      const { id, amount, currency } = payout;
      const isLeftOut = whyLeftOut(payout) !== null;
      return (
        <input
          class="input"
          type="checkbox"
          {...(isLeftOut
            ? { disabled: true, 'aria-describedby': `why-${id}` }
            : { name: 'id', value: id })}
          aria-label={`Select ${amount} ${currency}, ${id}`}
        />
      );
    },
  };
  const shared = sharedReasons(rows);
  const columns = columnsOf(shared, mayDecide);
  const table = (
    <Card flush>
      <Shared reasons={shared} />
      <Table
        caption="Payouts under review"
        rows={rows}
        columns={mayDecide ? [select, ...columns] : columns}
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
      <div class="actions">
        <label class="tick js-only">
          <input class="input" type="checkbox" data-select-all="id" /> Select all that can be
          selected
        </label>
        <button class="btn" data-variant="outline">
          Approve the selected payouts …
        </button>
        <button class="btn" data-variant="outline" name="reject" value="yes">
          Reject the selected payouts …
        </button>
      </div>
      {table}
    </form>
  );
}

const WHY_LEFT_OUT: Record<LeftOut, string> = {
  decided: 'It is no longer under review',
  four_eyes: 'It requires two approvals: decide on its page',
  screening: 'The screening does not clear it: decide on its page',
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
            <Table
              caption="Payouts to approve"
              rows={approvable}
              columns={columnsOf([], false)}
              empty={null}
            />
          </Card>
          {orders.map((order) => (
            <input type="hidden" name="order" value={order} />
          ))}
          <div class="totals">
            {totals.map(({ mode, currency, count, amount }) => (
              <p>
                <ModeMark mode={mode} /> {count === 1 ? '1 payout' : `${count} payouts`},{' '}
                <Money amount={amount} currency={currency} />
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

function Rejected({ rejectable, leftOut, form }: Selection & { form: FormState }) {
  const gone = leftOut.filter(({ why }) => why === 'decided').length;
  const count = rejectable.length === 1 ? '1 payout' : `${rejectable.length} payouts`;
  return (
    <>
      <PageHead
        title="Reject a selection"
        lead="The funds of each payout are returned to its merchant."
        back={{ href: PATH, label: 'Review queue' }}
      />
      {gone === 0 ? null : (
        <Alert tone="note" title={`Left out because they are already decided: ${gone}`} />
      )}
      {rejectable.length === 0 ? (
        <Alert tone="note" title="Nothing to reject">
          <p>Select payouts in the review queue, at most {SELECTION_MAX}.</p>
        </Alert>
      ) : (
        <form method="post" action={`${PATH}/reject`} class="queue">
          <Card title="Will be rejected" flush>
            <Table
              caption="Payouts to reject"
              rows={rejectable}
              columns={columnsOf([], false)}
              empty={null}
            />
          </Card>
          {rejectable.map(({ id }) => (
            <input type="hidden" name="order" value={`${id} ${newDecisionId()}`} />
          ))}
          <Field
            name="reason"
            label="Reason for the rejection"
            hint="The merchants can read it."
            form={form}
            maxLength={REASON_LENGTH_MAX}
            required
          />
          <div>
            <button class="btn" data-variant="destructive">
              Reject {count}
            </button>
          </div>
        </form>
      )}
    </>
  );
}

interface DecidedProps {
  asked: readonly string[];
  decisions: readonly PayoutDecision[];
  payouts: readonly ReviewedPayout[];
}

function DecidedList({ asked, decisions, payouts }: DecidedProps) {
  const verb = decisions[0]?.kind === 'reject' ? 'rejected' : 'approved';
  const rows = asked.map((id) => ({
    id,
    decision: decisions.find(({ payoutId }) => payoutId === id),
    payout: payouts.find((one) => one.id === id),
  }));
  return (
    <>
      <PageHead
        title="Result of the selection"
        back={{ href: PATH, label: 'Next in the review queue' }}
        lead={`${decisions.filter(({ outcome }) => outcome === 'applied').length} of ${rows.length} ${verb}`}
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
              cell: ({ decision, payout }) =>
                decision === undefined || payout === undefined
                  ? 'Left out: it was decided meanwhile, or has to be decided on its page'
                  : outcomeText(decision, payout).title,
            },
          ]}
        />
      </Card>
    </>
  );
}
