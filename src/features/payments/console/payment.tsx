/** One payment: its decisions, timeline, transfers, ledger lines and cases. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import type { PaymentDetail } from '../console-payments';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { awaitsAddress, shownRefundStatus } from '../../../domain/refund';
import { Action, Field, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { NewRefundLink, RefundMailText } from '../pages/refund-link';
import { isOpenPayment } from '../../../domain/payment';
import { Follows, LiveStatus } from '../../../kit/pages/follow';
import { wasJustNow } from '../../../kit/pages/just-now';
import { LedgerLines, PaymentAmounts, Timeline } from '../../../kit/pages/history';
import { WorkflowLink, type WorkflowUrl } from '../../../kit/pages/workflow-link';
import { PREFIX } from '../../../kit/pages/operator-page';
import { ModeMark } from '../../payouts/console/parts';
import { depositAddress, Transaction } from '../../../kit/pages/explorer';
import { Movement, transfersOf } from '../pages/transfers';
import { PaymentDecisions } from './decisions';

const PATH = `${PREFIX}/payments`;

interface PaymentPageProps extends PaymentDetail {
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
  /** The link to a refund's page of a moment ago. */
  link: string | null;
  workflowUrl: WorkflowUrl;
}

export function PaymentPage(props: PaymentPageProps) {
  const { payment, events, transactions, cases, decisions, asked, workflowUrl, mayDecide } = props;
  const path = `${PATH}/${payment.id}`;
  const isOpen =
    isOpenPayment(payment.status) || decisions.some(({ state }) => state === 'pending');
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Payments' }}
        here={payment.reference}
        title={
          <>
            <Money amount={payment.amount} currency={payment.currency} />{' '}
            <LiveStatus value={payment.status} isOpen={isOpen} /> <ModeMark mode={payment.mode} />
          </>
        }
        lead={
          <>
            <a href={`${PREFIX}/accounts/${payment.accountId}`}>{payment.accountName}</a> ·{' '}
            {payment.reference} · <Time at={payment.createdAt} />
          </>
        }
      >
        {mayDecide ? (
          <Action action={`${path}/ask`} label="Ask the provider now" icon="refresh-cw" />
        ) : null}
        <WorkflowLink id={payment.id} urlOf={workflowUrl} />
      </PageHead>
      <Follows id="asked" isOpen={wasJustNow(asked, 'asked')}>
        {wasJustNow(asked, 'asked') ? (
          <Alert tone="note" title="The workflow was told to ask the provider.">
            <p>This page updates automatically.</p>
          </Alert>
        ) : null}
      </Follows>
      {wasJustNow(asked, 'no_answer') ? (
        <Alert tone="bad" title="Temporal did not answer. Try again." />
      ) : null}
      <NewRefundLink link={props.link} />
      <RefundsToAddress {...props} path={path} />
      <Follows id="decisions" isOpen={isOpen}>
        <PaymentDecisions {...props} path={path} />
      </Follows>
      <Follows id="story" isOpen={isOpen} class="split">
        <div>
          <Timeline
            events={events}
            deliveryPage={null}
            explain={({ type, actor }) => {
              if (type === 'payment.failed') return payment.failureReason;
              return actor === null ? null : `Decided by ${actor}`;
            }}
          />
          <Transfers {...props} />
          <LedgerLines transactions={transactions} lead="Changes to the merchant’s balances" />
        </div>
        <div>
          <PaymentAmounts payment={payment} />
          {cases.length === 0 ? null : <Cases cases={cases} />}
          <Details payment={payment} />
        </div>
      </Follows>
    </>
  );
}

function Transfers({ payment, credits, refunds }: PaymentDetail) {
  const { currency } = payment;
  const lines = [
    ...transfersOf(payment, credits).map((transfer) => ({ ...transfer, notes: [] })),
    ...refunds.map((refund) => ({
      what: `Refund: ${words(shownRefundStatus(refund)).toLowerCase()}`,
      id: refund.reference,
      txHash: null,
      amount: refund.amount,
      fee: refund.fee,
      at: refund.createdAt,
      notes: notesOf(refund),
    })),
  ];
  return (
    <Card title="Transfers and refunds" flush>
      <Table
        caption="Transfers and refunds"
        rows={lines}
        empty={<Empty icon="arrow-down-left" title="No transfer was seen yet" />}
        columns={[
          {
            label: 'Movement',
            cell: Movement,
          },
          {
            label: 'ID or reference',
            cell: ({ id, txHash, notes }) => (
              <>
                <code class="break">{id}</code>
                {txHash === null ? null : <Transaction object={payment} hash={txHash} />}
                {notes.map((note) => (
                  <small class="break">{note}</small>
                ))}
              </>
            ),
          },
          {
            label: 'Amount',
            right: true,
            cell: ({ amount, fee }) => (
              <>
                <Money amount={amount} currency={currency} />
                <small>
                  Fee <Money amount={fee} currency={currency} />
                </small>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

/** Refunds whose customer has not named an address, with the form for a link to hand over. */
function RefundsToAddress({
  refunds,
  payment,
  form,
  path,
  mayDecide,
}: PaymentPageProps & { path: string }) {
  return refunds.filter(awaitsAddress).map(({ id, amount, mail, addressUntil }) => (
    <Alert
      tone="wait"
      title={`A refund of ${amount} ${payment.currency} waits for the customer’s address`}
    >
      <p>
        <RefundMailText mail={mail} />
        {addressUntil === null ? null : (
          <>
            {' '}
            The money returns to the merchant on <Time at={addressUntil} />.
          </>
        )}
      </p>
      {mayDecide ? (
        <details class="confirm" open={form.values.get('refund') === id}>
          <summary class="btn" data-variant="outline">
            <Icon name="link" /> Make a link for the customer …
          </summary>
          <form method="post" action={`${path}/refund-link`} class="confirm-body">
            <input type="hidden" name="refund" value={id} />
            <Field
              name="link-reason"
              label="Reason"
              hint="Recorded in the audit log. Hand the link to the customer yourself: whoever has it decides where the money goes."
              form={form}
              required
              maxLength={REASON_LENGTH_MAX}
              autocomplete="off"
            />
            <button class="btn">Make the link</button>
          </form>
        </details>
      ) : null}
    </Alert>
  ));
}

/** Who asked for a refund, and what for. */
function notesOf(refund: PaymentDetail['refunds'][number]): string[] {
  const { requestedBy, operator, personEmail, apiKeyId, merchantReference, refusal } = refund;
  const who = {
    merchant: `Requested by the merchant: ${personEmail ?? apiKeyId ?? ''}`,
    operator: `Requested by the operator ${operator ?? ''}`,
    provider: 'The provider refunded it by itself',
  }[requestedBy];
  return [
    who,
    merchantReference === null ? [] : `Reference: ${merchantReference}`,
    refund.reason === null ? [] : `Reason: ${refund.reason}`,
    refusal === null ? [] : `Refused: ${refusal}`,
  ].flat();
}

function Cases({ cases }: Pick<PaymentDetail, 'cases'>) {
  return (
    <Card title="Cases">
      <ul class="why">
        {cases.map(({ id, kind, createdAt, resolvedAt }) => (
          <li>
            <a href={`${PREFIX}/cases/${id}`}>{words(kind)}</a>{' '}
            <Status value={resolvedAt === null ? 'open' : 'resolved'} /> <Time at={createdAt} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Details({ payment }: Pick<PaymentDetail, 'payment'>) {
  const { exceptions, completedAt } = payment;
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Payment', <Id value={payment.id} />],
          ['Account', <Id value={payment.accountId} />],
          ['Reference', <Id value={payment.reference} />],
          ['Provider', words(payment.provider)],
          ['Provider’s checkout', <Id value={payment.providerCheckoutId} />],
          ['Network', payment.network === null ? null : words(payment.network)],
          [
            'Transaction',
            payment.txHash === null ? null : <Transaction object={payment} hash={payment.txHash} />,
          ],
          ['Deposit address', depositAddress(payment)],
          ['Customer', payment.customerEmail],
          ['Description', payment.description],
          ['Failure', payment.failureReason],
          ['Exceptions', exceptions.length === 0 ? null : exceptions.map(words).join(', ')],
          ['Created with', <Id value={payment.apiKeyId} />],
          ['Expires', <Time at={payment.expiresAt} seconds />],
          ['Completed', completedAt === null ? null : <Time at={completedAt} seconds />],
          ...Object.entries(payment.metadata).map(
            ([name, value]) => [`metadata.${name}`, value] as const,
          ),
        ]}
      />
    </Card>
  );
}
