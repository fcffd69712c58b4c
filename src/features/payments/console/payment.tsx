/** One payment: its decisions, timeline, transfers, ledger lines and cases. */
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
import { Action, type FormState } from '../../../kit/pages/forms';
import { LedgerLines, PaymentAmounts, Timeline } from '../../../kit/pages/history';
import { WorkflowLink, type WorkflowUrl } from '../../../kit/pages/workflow-link';
import { PREFIX } from '../../../kit/pages/operator-page';
import { ModeMark, Transaction } from '../../payouts/console/parts';
import { PaymentDecisions } from './decisions';

const PATH = `${PREFIX}/payments`;

interface PaymentPageProps extends PaymentDetail {
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
  workflowUrl: WorkflowUrl;
}

export function PaymentPage(props: PaymentPageProps) {
  const { payment, events, transactions, cases, asked, workflowUrl, mayDecide } = props;
  const path = `${PATH}/${payment.id}`;
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Payments' }}
        title={
          <>
            <Money amount={payment.amount} currency={payment.currency} />{' '}
            <Status value={payment.status} /> <ModeMark mode={payment.mode} />
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
      {asked.has('asked') ? (
        <Alert tone="good" title="The workflow asks the provider now. Reload in a few seconds." />
      ) : null}
      {asked.has('no_answer') ? (
        <Alert tone="bad" title="Temporal did not answer. Try again." />
      ) : null}
      <PaymentDecisions {...props} path={path} />
      <div class="split">
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
      </div>
    </>
  );
}

function Transfers({ payment, credits, refunds }: PaymentDetail) {
  const { currency } = payment;
  const lines = [
    ...credits.map(({ providerTransferId, amount, fee, creditedAt }) => ({
      what: 'Credited',
      id: providerTransferId,
      amount,
      fee,
      at: creditedAt,
      notes: [],
    })),
    ...refunds.map((refund) => ({
      what: `Refund: ${words(refund.state).toLowerCase()}`,
      id: refund.reference,
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
        empty={<Empty icon="arrow-down-left" title="No transfer was credited yet" />}
        columns={[
          {
            label: 'Movement',
            cell: ({ what, at }) => (
              <>
                {what}
                <small>
                  <Time at={at} seconds />
                </small>
              </>
            ),
          },
          {
            label: 'ID or reference',
            cell: ({ id, notes }) => (
              <>
                <code class="break">{id}</code>
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
                <Money amount={amount} currency={currency} exact />
                <small>
                  Fee <Money amount={fee} currency={currency} exact />
                </small>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

/** Who asked for a refund, and what for. */
function notesOf(refund: PaymentDetail['refunds'][number]): string[] {
  const { requestedBy, operator, personEmail, apiKeyId, merchantReference, refusal } = refund;
  const who = {
    merchant: `Asked for by the merchant: ${personEmail ?? apiKeyId ?? ''}`,
    operator: `Asked for by the operator ${operator ?? ''}`,
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
