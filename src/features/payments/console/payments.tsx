/** Payments of all accounts: the list with its filters, and what operators send. One payment: payment.tsx. */
import { MODES } from '../../../domain/mode';
import { ZERO } from '../../../domain/money';
import { PAYMENT_DECISIONS, PAYMENT_STATUSES } from '../../../domain/payment';
import { InvalidInput } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import { type ConsolePayment, PAYMENT_FLAGS } from '../console-payments';
import type { ListPosition } from '../../../kit/service/services';
import { Empty, Money, Status, Table, Time, words } from '../../../kit/pages/components';
import { draftForm, fieldErrors, type FormState } from '../../../kit/pages/forms';
import { chosen, daysOf, ListPage, PER_PAGE, positionOf, textOf } from '../../../kit/pages/lists';
import { justNow } from '../../../kit/pages/just-now';
import type { Once } from '../../../kit/pages/once';
import { PageRefusal } from '../../../kit/pages/problems';
import { type Answer, page, redirect, signInAgain } from '../../../kit/pages/site';
import type { WorkflowUrl } from '../../../kit/pages/workflow-link';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { AmountLink, ReferenceOf } from '../../payouts/console/parts';
import { makeRefundLink } from '../refund-addresses';
import { refundLink } from '../pages/refund-link';
import { PaymentPage } from './payment';

const PATH = `${PREFIX}/payments`;
const NAV = { nav: 'payments' };

interface PaymentPages {
  services: ConsoleServices;
  workflowUrl: WorkflowUrl;
  once: Once;
  dashboardUrl: string;
}

export function consolePaymentPages(pages: PaymentPages): OperatorRoute[] {
  const { workflowUrl, once, dashboardUrl } = pages;
  const { payments, db } = pages.services;
  const show = async (visit: OperatorVisit, form: FormState): Promise<Answer> => {
    const detail = await payments.get(visit.id);
    const taken = once.take(visit);
    const body = (
      <PaymentPage
        {...detail}
        asked={visit.query}
        form={form}
        link={taken?.secret ?? null}
        mayDecide={visit.may('review')}
        workflowUrl={workflowUrl}
      />
    );
    const status = Object.keys(form.errors).length === 0 ? 200 : 422;
    return page(`Payment ${detail.payment.reference}`, body, {
      ...NAV,
      status,
      cookies: taken === null ? [] : [taken.cookie],
    });
  };
  return [
    get('/payments', 'read', async ({ query }) => {
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
    }),
    get('/payments/:id', 'read', (visit) => show(visit, draftForm(visit))),
    ...PAYMENT_DECISIONS.map((kind) =>
      post(`/payments/:id/${kind}`, 'review', async (visit) => {
        const { form, id: paymentId } = visit;
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
          const errors = { [`${kind}-${error.field}`]: error.message };
          return show(visit, { values: form, errors });
        }
        return redirect(`${PATH}/${paymentId}?decision=${id}`);
      }),
    ),
    post('/payments/:id/refund-link', 'review', async (visit) => {
      const path = `${PATH}/${visit.id}`;
      // Whoever has the link decides where the money goes.
      const again = signInAgain(visit, path);
      if (again !== null) return again;
      const { refunds } = await payments.get(visit.id);
      const refund = refunds.find(({ id }) => id === visit.form.get('refund'));
      if (refund === undefined) throw new PageRefusal('page_not_found');
      const { answer, fields } = await fieldErrors(async () => {
        const by = visit.withReason('link-reason');
        const { token } = await makeRefundLink(db, by, refund.id);
        return redirect(path, [once.keep(visit, path, refundLink(dashboardUrl, token))]);
      });
      return (
        answer ??
        show(visit, { values: visit.form, errors: { 'link-reason': fields['reason'] ?? '' } })
      );
    }),
    post('/payments/:id/ask', { cost: 'provider', needs: 'review' }, async ({ id }) => {
      const isAsked = await payments.askProvider(id);
      return redirect(`${PATH}/${id}?${justNow(isAsked ? 'asked' : 'no_answer')}`);
    }),
  ];
}

interface PaymentListProps {
  rows: readonly ConsolePayment[];
  query: URLSearchParams;
  next: ListPosition | null;
}

function PaymentList({ rows, query, next }: PaymentListProps) {
  return (
    <ListPage
      title="Payments"
      lead="All accounts, newest first."
      path={PATH}
      query={query}
      options={[
        ['mode', 'Mode', MODES],
        ['status', 'Status', PAYMENT_STATUSES],
        ['flag', 'Only with', PAYMENT_FLAGS],
      ]}
      texts={[
        ['search', 'ID or reference'],
        ['account', 'Account ID'],
      ]}
      next={next}
      none={
        <Empty icon="arrow-down-left" title="No payments yet">
          <p>A payment appears here when a merchant creates one.</p>
        </Empty>
      }
      table={(empty) => (
        <Table
          caption="Payments"
          rows={rows}
          empty={empty}
          columns={[
            {
              label: 'Amount',
              right: true,
              cell: ({ id, ...payment }) => <AmountLink href={`${PATH}/${id}`} {...payment} />,
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
              cell: (payment) => <ReferenceOf {...payment} />,
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
      )}
    />
  );
}
