/** Payments of all accounts: the list with its filters, one payment, and what an operator decides. */
import { MODES } from '../../domain/mode';
import { ZERO } from '../../domain/money';
import { PAYMENT_DECISIONS, PAYMENT_STATUSES } from '../../domain/payment';
import { InvalidInput } from '../../services/admin/refusal';
import type { ConsoleServices } from '../../services/console';
import {
  type ConsolePayment,
  PAYMENT_FLAGS,
  type PaymentDetail,
} from '../../services/console-payments';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  SignedInAgain,
  Status,
  Table,
  Time,
  words,
} from '../../web/components';
import { Action, EMPTY_FORM, type FormState } from '../../web/forms';
import { LedgerLines, PaymentAmounts, Timeline } from '../../web/history';
import {
  chosen,
  daysOf,
  Filters,
  isFiltered,
  ListPager,
  NoMatch,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../web/lists';
import { problemText } from '../../web/refusals';
import { type Answer, page, redirect, signInAgain } from '../../web/site';
import { WorkflowLink, type WorkflowUrl } from '../../web/workflow-link';
import { type OperatorRoute, type OperatorVisit, PREFIX } from '../operator-page';
import { ModeMark } from '../payouts/parts';
import { PaymentDecisions } from './decisions';

const PATH = `${PREFIX}/payments`;
const NAV = { nav: 'payments' };

export function consolePaymentPages(
  { payments }: ConsoleServices,
  workflowUrl: WorkflowUrl,
): OperatorRoute[] {
  const show = async (visit: OperatorVisit, form: FormState): Promise<Answer> => {
    const detail = await payments.get(visit.params['id'] ?? '');
    const body = (
      <Detail
        {...detail}
        asked={visit.query}
        form={form}
        mayDecide={visit.may('review')}
        signedInAgain={visit.draft !== null}
        workflowUrl={workflowUrl}
      />
    );
    const status = Object.keys(form.errors).length === 0 ? 200 : 422;
    return page(`Payment ${detail.payment.reference}`, body, { ...NAV, status });
  };
  return [
    {
      method: 'get',
      path: '/payments',
      needs: 'read',
      run: async ({ query }) => {
        const filters = {
          mode: chosen(query, 'mode', MODES),
          status: chosen(query, 'status', PAYMENT_STATUSES),
          flag: chosen(query, 'flag', PAYMENT_FLAGS),
          accountId: textOf(query, 'account'),
          search: textOf(query, 'search'),
          ...daysOf(query),
        };
        const list = { limit: PER_PAGE, after: positionOf(query), filters };
        const { items, next } = await payments.list(list);
        return page('Payments', <PaymentList rows={items} query={query} next={next} />, NAV);
      },
    },
    {
      method: 'get',
      path: '/payments/:id',
      needs: 'read',
      run: (visit) => show(visit, { ...EMPTY_FORM, values: visit.draft ?? EMPTY_FORM.values }),
    },
    ...PAYMENT_DECISIONS.map((kind): OperatorRoute => ({
      method: 'post',
      path: `/payments/:id/${kind}`,
      needs: 'review',
      run: async (visit) => {
        const { form } = visit;
        const paymentId = visit.params['id'] ?? '';
        const id = form.get('decision') ?? '';
        // A refund sends money.
        const again = kind === 'refund' ? signInAgain(visit, `${PATH}/${paymentId}`) : null;
        if (again !== null) return again;
        const amount = kind === 'refund' ? (form.get('refund-amount')?.trim() ?? '') : null;
        try {
          await payments.decide(visit.withReason(`${kind}-reason`), {
            id,
            paymentId,
            kind,
            amount,
          });
        } catch (error) {
          if (!(error instanceof InvalidInput)) throw error;
          const errors = { [`${kind}-${error.field}`]: problemText(error.problem) };
          return show(visit, { values: form, errors });
        }
        return redirect(`${PATH}/${paymentId}?decision=${id}`);
      },
    })),
    {
      method: 'post',
      path: '/payments/:id/ask',
      needs: 'review',
      run: async ({ params }) => {
        const id = params['id'] ?? '';
        const isAsked = await payments.askProvider(id);
        return redirect(`${PATH}/${id}?${isAsked ? 'asked' : 'no_answer'}`);
      },
    },
  ];
}

interface PaymentListProps {
  rows: readonly ConsolePayment[];
  query: URLSearchParams;
  next: Parameters<typeof ListPager>[0]['next'];
}

function PaymentList({ rows, query, next }: PaymentListProps) {
  return (
    <>
      <PageHead title="Payments" lead="Of all accounts, the newest first." />
      <Filters
        path={PATH}
        query={query}
        options={[
          ['mode', 'Mode', MODES],
          ['status', 'Status', PAYMENT_STATUSES],
          ['flag', 'Only with', PAYMENT_FLAGS],
        ]}
        texts={[
          ['search', 'Id or reference'],
          ['account', 'Account id'],
        ]}
      />
      <Card flush>
        <Table
          caption="Payments"
          rows={rows}
          empty={
            isFiltered(query) ? (
              <NoMatch path={PATH} what="payments" />
            ) : (
              <Empty icon="arrow-down-left" title="No payments yet">
                <p>A payment appears here when a merchant creates one.</p>
              </Empty>
            )
          }
          columns={[
            {
              label: 'Amount',
              right: true,
              cell: ({ id, amount, currency, mode }) => (
                <>
                  <a href={`${PATH}/${id}`}>
                    <Money amount={amount} currency={currency} />
                  </a>
                  <small>
                    <ModeMark mode={mode} />
                  </small>
                </>
              ),
            },
            {
              label: 'Status',
              cell: ({ status, exceptions, openCases }) => (
                <>
                  <Status value={status} />
                  {exceptions.length === 0 ? null : (
                    <small>{exceptions.map(words).join(', ')}</small>
                  )}
                  {openCases === 0 ? null : (
                    <small>{openCases === 1 ? '1 open case' : `${openCases} open cases`}</small>
                  )}
                </>
              ),
            },
            {
              label: 'Reference',
              cell: ({ reference, accountId, accountName }) => (
                <>
                  <span class="break">{reference}</span>
                  <small>
                    <a href={`${PREFIX}/accounts/${accountId}`}>{accountName}</a>
                  </small>
                </>
              ),
            },
            {
              label: 'Received',
              right: true,
              wide: true,
              cell: ({ receivedAmount, currency }) =>
                receivedAmount === ZERO ? (
                  ''
                ) : (
                  <Money amount={receivedAmount} currency={currency} />
                ),
            },
            { label: 'Provider', wide: true, cell: ({ provider }) => words(provider) },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Card>
      <ListPager path={PATH} query={query} next={next} />
    </>
  );
}

interface DetailProps extends PaymentDetail {
  asked: URLSearchParams;
  form: FormState;
  mayDecide: boolean;
  signedInAgain: boolean;
  workflowUrl: WorkflowUrl;
}

function Detail(props: DetailProps) {
  const { payment, events, transactions, cases, asked, workflowUrl, mayDecide, signedInAgain } =
    props;
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
      {signedInAgain ? <SignedInAgain /> : null}
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
          <LedgerLines transactions={transactions} lead="What moved on the merchant’s balances." />
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
    })),
    ...refunds.map(({ reference, amount, fee, state, createdAt }) => ({
      what: `Refund: ${words(state).toLowerCase()}`,
      id: reference,
      amount,
      fee,
      at: createdAt,
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
            label: 'At',
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
            label: 'Provider’s id or reference',
            cell: ({ id }) => <code class="break">{id}</code>,
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
          ['Network', payment.network],
          ['Transaction', payment.txHash === null ? null : <Id value={payment.txHash} />],
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
