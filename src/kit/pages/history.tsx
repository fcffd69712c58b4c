/** The timeline of a payment or payout, and its ledger entries. */
import type { ComponentChildren } from 'preact';
import type { MerchantTransaction } from '../../domain/ledger';
import { ZERO } from '../../domain/money';
import type { Payment } from '../../domain/payment';
import { amountDue, feeKept, netAmount, overpaidAmount } from '../../domain/payment-pricing';
import type { Creator, HistoryDelivery, HistoryEvent } from '../../shell/dashboard/services';
import { Card, Empty, Facts, Money, personText, Status, Table, Time, words } from './components';

interface TimelineProps {
  events: readonly HistoryEvent[];
  /** The address of a delivery's page; null if this site has none. */
  deliveryPage: ((id: string) => string) | null;
  /** The reason of the event. */
  explain: (event: HistoryEvent) => string | null;
  /** Remarks about what happened between the events, newest first. */
  remarks?: readonly TimelineRemark[];
  /** Whether the deliveries are shown, with the answers of the merchant's server. */
  showAnswers?: boolean;
}

export interface TimelineRemark {
  at: Date;
  title: string;
  text: string;
  /** By default it waits for something. */
  tone?: 'wait' | 'bad' | 'quiet';
}

export function Timeline(props: TimelineProps) {
  const { events, explain, remarks = [] } = props;
  const lines = [
    ...events.map((event) => ({
      at: event.createdAt,
      line: <EventLine {...props} event={event} reason={explain(event)} />,
    })),
    ...remarks.map((remark) => ({ at: remark.at, line: <RemarkLine {...remark} /> })),
  ].sort((one, other) => other.at.getTime() - one.at.getTime());
  return (
    <Card title="Timeline">
      {lines.length === 0 ? <p class="muted">No events yet.</p> : null}
      <ol class="timeline">{lines.map(({ line }) => line)}</ol>
    </Card>
  );
}

function RemarkLine({ at, title, text, tone = 'wait' }: TimelineRemark) {
  return (
    <li data-tone={tone}>
      <div class="line">
        <b>{title}</b>
        <Time at={at} seconds />
      </div>
      {text === '' ? null : <small>{text}</small>}
    </li>
  );
}

interface EventLineProps extends Pick<TimelineProps, 'deliveryPage' | 'showAnswers'> {
  event: HistoryEvent;
  reason: string | null;
}

function EventLine({ event, deliveryPage, reason, showAnswers = false }: EventLineProps) {
  const status = event.type.split('.')[1] ?? event.type;
  return (
    <li data-tone={toneOf(status)}>
      <div class="line">
        <b>{words(status)}</b>
        <Time at={event.createdAt} seconds />
      </div>
      {reason === null ? null : <small>{reason}</small>}
      <small>
        <code>{event.id}</code>
      </small>
      {showAnswers && event.deliveries.length === 0 ? (
        <small>The merchant was not notified: no endpoint receives this event.</small>
      ) : null}
      {event.deliveries.map(({ id, url, status: delivered, attempts, ...delivery }) => (
        <small>
          <Status value={delivered} />{' '}
          {deliveryPage === null ? (
            new URL(url).host
          ) : (
            <a class="link" href={deliveryPage(id)}>
              {new URL(url).host}
            </a>
          )}{' '}
          {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
          {showAnswers ? <Answer {...delivery} /> : null}
        </small>
      ))}
      {showAnswers && event.body !== null ? (
        <details>
          <summary>Body of the webhook</summary>
          <pre class="code">{event.body}</pre>
        </details>
      ) : null}
    </li>
  );
}

/** The last answer of an endpoint, and when it is asked again. */
function Answer({ last, nextAttemptAt }: Pick<HistoryDelivery, 'last' | 'nextAttemptAt'>) {
  return (
    <>
      {last === null ? null : (
        <>
          {last.status === null ? '' : `, answer ${last.status}`}
          {last.durationMs === null ? '' : ` in ${last.durationMs} ms`}
          {last.error === null ? '' : `: ${last.error}`},{' '}
          <Time at={new Date(last.startedAt)} seconds />
        </>
      )}
      {nextAttemptAt === null ? null : (
        <>
          , next attempt <Time at={new Date(nextAttemptAt)} seconds />
        </>
      )}
    </>
  );
}

function toneOf(status: string): string {
  if (status === 'completed') return 'good';
  if (['failed', 'rejected'].includes(status)) return 'bad';
  if (['on_hold', 'underpaid', 'under_review'].includes(status)) return 'wait';
  return ['cancelled', 'expired', 'refunded'].includes(status) ? 'quiet' : 'busy';
}

interface LedgerProps {
  transactions: readonly MerchantTransaction[];
  lead?: string;
}

export function LedgerLines({ transactions, lead = 'Changes to your balances' }: LedgerProps) {
  const lines = transactions.flatMap((transaction) =>
    transaction.entries.map((entry) => ({ ...entry, transaction })),
  );
  return (
    <Card title="Ledger" lead={lead} flush>
      <Table
        caption="Ledger entries"
        rows={lines}
        empty={<Empty icon="list" title="No entries yet" />}
        columns={[
          { label: 'Posted', cell: (line) => <Time at={line.transaction.postedAt} seconds /> },
          {
            label: 'Entry',
            cell: (line) => (
              <>
                {words(line.part)}
                <small>
                  {words(line.transaction.type)}, {line.balance}
                </small>
              </>
            ),
          },
          {
            label: 'Amount',
            right: true,
            cell: ({ transaction, ...line }) => (
              <>
                <Signed {...line} currency={transaction.currency} />
                <small>
                  Balance after <Money amount={line.balanceAfter} currency={transaction.currency} />
                </small>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

interface SignedProps {
  direction: 'in' | 'out';
  amount: string;
  currency: string;
}

export function Signed({ direction, amount, currency }: SignedProps): ComponentChildren {
  return (
    <>
      {direction === 'in' ? '+' : '−'}
      <Money amount={amount} currency={currency} />
    </>
  );
}

/** The row of the details that names the key, or the person on the dashboard. */
export function creatorRow(
  creator: Creator,
  base: string,
  label = 'Requested by',
): readonly [string, ComponentChildren] {
  if (creator.kind === 'person') return [label, personText(creator)];
  return ['API key', <a href={`${base}/keys/${creator.id}`}>{creator.id}</a>];
}

export function creatorText(creator: Creator): string {
  return creator.kind === 'person' ? `by ${personText(creator)}` : `with ${creator.id}`;
}

export function PaymentAmounts({ payment }: { payment: Payment }) {
  const money = (amount: string) => <Money amount={amount} currency={payment.currency} />;
  const unlessZero = (amount: string) => (amount === ZERO ? null : money(amount));
  return (
    <Card title="Amounts">
      <Facts
        rows={[
          ['Amount', money(payment.amount)],
          ['Received', money(payment.receivedAmount)],
          ['Not confirmed yet', unlessZero(payment.unconfirmedAmount)],
          ['Still due', unlessZero(amountDue(payment))],
          ['Overpaid', unlessZero(overpaidAmount(payment))],
          ['Refunded', unlessZero(payment.refundedAmount)],
          ['Service fee', money(feeKept(payment))],
          ['Net amount', payment.creditedAmount === ZERO ? null : money(netAmount(payment))],
        ]}
      />
    </Card>
  );
}
