/** Refunds: the list with its filters, and one refund. */
import type { ComponentChildren } from 'preact';
import { ZERO } from '../../../domain/money';
import {
  awaitsAddress,
  isWaiting,
  type Refund,
  REFUND_STATUSES,
  shownRefundStatus,
} from '../../../domain/refund';
import type {
  Creator,
  DashboardServices,
  PersonDecision,
  RefundDetail,
} from '../../../shell/dashboard/services';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Time,
  words,
} from '../../../kit/pages/components';
import { creatorRow, creatorText, Timeline } from '../../../kit/pages/history';
import {
  chosen,
  daysOf,
  ListPage,
  OBJECT_TEXTS,
  PER_PAGE,
  positionOf,
  textOf,
  ToExport,
} from '../../../kit/pages/lists';
import { waitingRefund } from '../../approvals/second-person';
import { Follows, FollowSwitch, LiveStatus } from '../../../kit/pages/follow';
import { Action, Confirm } from '../../../kit/pages/forms';
import { Transaction } from '../../../kit/pages/explorer';
import type { Once } from '../../../kit/pages/once';
import { PageRefusal } from '../../../kit/pages/problems';
import { page, redirect } from '../../../kit/pages/site';
import { MAKE, mayMake, personOf } from '../../../kit/pages/creation';
import { ObjectTable, type ObjectRowsProps } from '../../../kit/pages/object-table';
import type { MerchantRoute } from '../../../kit/pages/merchant-page';
import { decisionRows, secondPersonOf } from '../../approvals/dashboard/waiting';
import { makeRefundLink } from '../refund-addresses';
import { NewRefundLink, refundLink, RefundMailText } from '../pages/refund-link';
import { newRefundPages } from './new-refund';

const NAV = { nav: 'refunds' };

interface RefundPages {
  services: DashboardServices;
  once: Once;
  /** The URL of the dashboard. */
  publicUrl: string;
}

export function refundPages({ services, once, publicUrl }: RefundPages): MerchantRoute[] {
  const { refunds, refund, money, db } = services;
  return [
    ...newRefundPages(services),
    {
      method: 'get',
      path: '/refunds',
      needs: 'read',
      run: async (visit) => {
        const { query, base } = visit;
        const list = { limit: PER_PAGE, after: positionOf(query), filters: filtersOf(query) };
        const { items, next } = await refunds(visit, list);
        const path = `${base}/refunds`;
        return page(
          'Refunds',
          <ListPage
            title="Refunds"
            lead="Money that goes back to customers. Start a refund on the page of its payment."
            path={path}
            query={query}
            next={next}
            options={[['status', 'Status', REFUND_STATUSES]]}
            texts={OBJECT_TEXTS}
            none={<NoRefunds />}
            table={(empty) => <RefundTable rows={items} path={path} empty={empty} />}
          >
            <ToExport base={visit.base} kind="refunds" query={query} />
          </ListPage>,
          NAV,
        );
      },
    },
    {
      method: 'get',
      path: '/refunds/:id',
      needs: 'read',
      run: async (visit) => {
        const found = await refund(visit, visit.params['id'] ?? '');
        const waiting = waitingRefund(found.object);
        const taken = once.take(visit);
        const body = (
          <Detail
            {...found}
            base={visit.base}
            secondPerson={await secondPersonOf(services, visit, waiting)}
            decisions={await services.decisions(visit, found.object.id)}
            mayMake={mayMake(visit)}
            link={taken?.secret ?? null}
          />
        );
        const cookies = taken === null ? [] : [taken.cookie];
        return page('Refund', body, { ...NAV, cookies });
      },
    },
    {
      method: 'post',
      path: '/refunds/:id/link',
      ...MAKE,
      // Only the customer, or an operator, has the link of a live refund (decisions/payments#refunds-to-address).
      run: async (visit) => {
        const { object } = await refund(visit, visit.params['id'] ?? '');
        if (visit.mode === 'live') throw new PageRefusal('page_not_found');
        const { token } = await makeRefundLink(db, visit.by, object.id);
        const path = `${visit.base}/refunds/${object.id}`;
        return redirect(path, [once.keep(visit, path, refundLink(publicUrl, token))]);
      },
    },
    {
      method: 'post',
      path: '/refunds/:id/withdraw',
      ...MAKE,
      run: async (visit) => {
        const id = visit.params['id'] ?? '';
        await money.withdrawRefund(personOf(visit), id);
        return redirect(`${visit.base}/refunds/${id}`);
      },
    },
  ];
}

function filtersOf(query: URLSearchParams) {
  const status = chosen(query, 'status', REFUND_STATUSES);
  const currency = textOf(query, 'currency')?.toUpperCase();
  const reference = textOf(query, 'reference');
  return {
    ...(status === undefined ? {} : { status: [status] }),
    ...(currency === undefined ? {} : { currency }),
    ...(reference === undefined ? {} : { reference }),
    ...daysOf(query),
  };
}

/** @param isShort beside another column, where there is no room for who requested a refund */
export function RefundTable({
  isShort = false,
  ...rows
}: ObjectRowsProps<Refund> & { isShort?: boolean }) {
  return (
    <ObjectTable
      {...rows}
      caption="Refunds"
      statusOf={shownRefundStatus}
      referenceOf={({ id, merchantReference }) => merchantReference ?? id}
      columns={
        isShort
          ? []
          : [
              {
                label: 'Requested by',
                wide: true,
                cell: ({ requestedBy }) => REQUESTERS[requestedBy],
              },
            ]
      }
    />
  );
}

const REQUESTERS = { merchant: 'You', operator: 'The operator', provider: 'The provider' } as const;

function NoRefunds() {
  return (
    <Empty icon="undo-2" title="No refunds yet">
      <p>Open a payment that was credited and choose Refund, or use your API key.</p>
      <pre>{`curl "$API/payments/pay_…/refunds" -H "Authorization: Bearer sk_test_…" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: return-1" \\
  -d '{"amount": "10", "reference": "return-1"}'`}</pre>
    </Empty>
  );
}

interface DetailProps extends RefundDetail {
  base: string;
  secondPerson: ComponentChildren;
  decisions: readonly PersonDecision[];
  mayMake: boolean;
  /** The link for the customer that was made a moment ago. */
  link: string | null;
}

function Detail(props: DetailProps) {
  const { object: refund, events, creator, decisions, base, payout } = props;
  const { currency } = refund;
  const status = shownRefundStatus(refund);
  const isOpen = refund.state === 'ordered';
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  return (
    <>
      <PageHead
        back={[
          { href: `${base}/payments`, label: 'Payments' },
          { href: `${base}/payments/${refund.paymentId}`, label: props.payment.reference },
        ]}
        here="Refund"
        title={
          <>
            <Money amount={refund.amount} currency={currency} />{' '}
            <LiveStatus value={status} isOpen={isOpen} />
          </>
        }
        lead={
          <>
            Refund {refund.merchantReference ?? ''} · <Time at={refund.createdAt} />
          </>
        }
      >
        {isOpen ? <FollowSwitch /> : null}
        <Follows id="actions" isOpen={isOpen}>
          {props.mayMake && isWaiting(refund) ? (
            <Confirm
              action={`${base}/refunds/${refund.id}/withdraw`}
              label="Withdraw"
              icon="x"
              effect="The money returns to your balance, and nothing is sent to the customer."
              confirm="Withdraw this refund"
            />
          ) : null}
        </Follows>
      </PageHead>
      <Follows id="situation" isOpen={isOpen}>
        {props.secondPerson ?? <Situation {...props} />}
      </Follows>
      <NewRefundLink link={props.link} />
      <Follows id="story" isOpen={isOpen}>
        <div class="split">
          <Timeline
            events={events}
            deliveryPage={(id) => `${base}/webhooks/deliveries/${id}`}
            explain={({ type }) => reasonOf(refund, creator, type)}
          />
          <div>
            <Card title="Amounts">
              <Facts
                rows={[
                  ['To the customer', money(refund.amount)],
                  ['Fee returned', money(refund.state === 'refused' ? ZERO : refund.fee)],
                  ['From your balance', money(refund.state === 'refused' ? ZERO : refund.taken)],
                ]}
              />
            </Card>
            <Details {...{ refund, payout, creator, decisions, base }} />
          </div>
        </div>
      </Follows>
    </>
  );
}

/** A sentence about what the merchant should know now. */
function Situation({ object: refund, base, mail, mayMake }: DetailProps) {
  const { payoutId, addressUntil, mode } = refund;
  switch (refund.state) {
    case 'ordered':
      if (awaitsAddress(refund) && addressUntil !== null) {
        return (
          <Alert tone="wait" title="Waiting for the customer’s address">
            <p>The customer enters an address on a page, with a link that works once.</p>
            <p>
              {mode === 'test' ? (
                'In test mode no mail is sent. Make the link and open it in place of the customer.'
              ) : mail === null ? (
                'The payment has no email address of the customer. Ask the operator of the gateway to hand over a link.'
              ) : (
                <RefundMailText mail={mail} />
              )}
            </p>
            <p>
              If nobody has named an address by <Time at={addressUntil} />, the money returns to
              your balance. Until then you can withdraw the refund.
            </p>
            {mode === 'test' && mayMake ? (
              <Action
                action={`${base}/refunds/${refund.id}/link`}
                label="Make the link"
                icon="link"
              />
            ) : null}
          </Alert>
        );
      }
      if (payoutId !== null) {
        return (
          <Alert tone="wait" title="A payout sends the refund">
            <p>
              <a href={`${base}/payouts/${payoutId}`}>Open the payout</a> to see what it waits for.
            </p>
          </Alert>
        );
      }
      return (
        <Alert tone="wait" title="The provider has not confirmed the refund yet">
          <p>We keep checking. Do not refund again: the money is already taken.</p>
        </Alert>
      );
    case 'owed':
      return (
        <Alert tone="wait" title="Your balance has not paid for this refund yet">
          <p>
            The provider has sent the money to the customer. It is taken when the balance covers it.
          </p>
        </Alert>
      );
    case 'refused':
      return (
        <Alert tone="bad" title="The refund was not made. The money was returned.">
          <p>{refund.refusal}</p>
        </Alert>
      );
    case 'done':
    case 'waived':
      return null;
  }
}

interface DetailsProps {
  refund: Refund;
  payout: RefundDetail['payout'];
  creator: Creator | null;
  decisions: readonly PersonDecision[];
  base: string;
}

function Details({ refund, payout, creator, decisions, base }: DetailsProps) {
  const { paymentId, destination, requestedBy, endedAt, payoutId } = refund;
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Refund', <Id value={refund.id} />],
          [
            'Payment',
            <a class="break" href={`${base}/payments/${paymentId}`}>
              {paymentId}
            </a>,
          ],
          ['Reference', refund.merchantReference],
          // The reason of an operator is theirs alone.
          ['Reason', requestedBy === 'merchant' ? refund.reason : null],
          ['Destination', destination === null ? null : <Id value={destination.value} />],
          ['Memo', destination?.memo],
          [
            'Payout',
            payoutId === null ? null : <a href={`${base}/payouts/${payoutId}`}>{payoutId}</a>,
          ],
          ['Network', payout?.network == null ? null : words(payout.network)],
          [
            'Transaction',
            payout?.txHash == null ? null : <Transaction object={payout} hash={payout.txHash} />,
          ],
          creator === null ? ['Requested by', REQUESTERS[requestedBy]] : creatorRow(creator, base),
          ...decisionRows(decisions),
          ['Created', <Time at={refund.createdAt} seconds />],
          ['Ended', endedAt === null ? null : <Time at={endedAt} seconds />],
        ]}
      />
    </Card>
  );
}

function reasonOf(refund: Refund, creator: Creator | null, type: string): string | null {
  if (type === 'refund.failed') return refund.refusal;
  if (type === 'refund.completed') {
    return refund.requestedBy === 'provider' ? 'The provider refunded it by itself' : null;
  }
  return creator === null ? 'Requested by the operator' : `Requested ${creatorText(creator)}`;
}
