/** A payment link as the customer sees it, without a sign-in: a choice of what to pay with, then the checkout. */
import { ApiError } from '../../../domain/errors';
import { logoPath } from '../../../domain/logo';
import { isOpenPayment } from '../../../domain/payment';
import { Box } from '../../people/pages/box';
import { Alert, Facts, Money } from '../../../kit/pages/components';
import { PREFIX } from '../../../kit/pages/merchant-page';
import { PageRefusal } from '../../../kit/pages/problems';
import { page, redirect, type Route } from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import { AdminRefusal } from '../../../kit/service/refusal';
import {
  isPaidTwice,
  type LinkForCustomer,
  type PaymentLinks,
  receivedOf,
  routeOf,
} from '../payment-links';
import { routeText } from './route-text';

const TITLE = 'Your payment';
const NOT_NOW =
  'No checkout can be opened at the moment. Try again in a minute, choose another network, or ask the shop.';

export function payPages(links: PaymentLinks): Route[] {
  const idOf = ({ params }: Visit) => params['id'] ?? '';

  const show = async (visit: Visit, problem: string | null, status = 200) => {
    const found = await links.find(idOf(visit));
    if (found === null) throw new PageRefusal('payment_link_gone');
    const { isOpen, isPaid, payment, accountName, logo } = found;
    const isPayable = payment !== null && isOpenPayment(payment.status);
    if (!isOpen && !isPayable && !isPaid) throw new PageRefusal('payment_link_gone');
    const body = (
      <Box
        {...{ owner: accountName, product: 'Payment link', title: TITLE, problem }}
        logo={logo === null ? null : logoPath(logo)}
      >
        {isPaid && payment !== null ? <Ended {...found} payment={payment} /> : <Pay {...found} />}
      </Box>
    );
    // The form's own answer cannot lead there: a policy of the page keeps forms on this site.
    const opensNext = visit.query.has('chosen') && isPayable ? payment.checkoutUrl : undefined;
    return page(TITLE, body, { status, ...(opensNext === undefined ? {} : { opensNext }) });
  };

  return [
    {
      method: 'get',
      path: '/pay/:id',
      needs: null,
      run: (visit) => show(visit, null),
    },
    {
      method: 'post',
      path: '/pay/:id',
      needs: null,
      cost: 'provider',
      run: async (visit) => {
        const id = idOf(visit);
        try {
          await links.pay(id, visit.form.get('route') ?? '');
        } catch (error) {
          const isRefused = error instanceof AdminRefusal || error instanceof ApiError;
          if (!isRefused || (error instanceof ApiError && error.code === 'internal_error')) {
            throw error;
          }
          return show(visit, NOT_NOW, 409);
        }
        return redirect(`${PREFIX}/pay/${id}?chosen`);
      },
    },
  ];
}

function Pay({ link, payment, isOpen }: LinkForCustomer) {
  const { routes, amount, request, id } = link;
  const isPayable = payment !== null && isOpenPayment(payment.status);
  const current = isPayable ? routeOf(payment, routes) : undefined;
  const others = isOpen ? routes.filter((route) => route !== current) : [];
  return (
    <>
      <Facts
        rows={[
          ['Description', request['description']],
          ['Reference', link.reference],
          ['Received', received(link)],
        ]}
      />
      {isPayable ? (
        <>
          <p>
            You pay{' '}
            <b>
              {amountText(payment.amount)}{' '}
              {current === undefined ? payment.currency : routeText(current)}
            </b>
            .
          </p>
          <a class="btn" href={payment.checkoutUrl}>
            Open the checkout
          </a>
        </>
      ) : null}
      {others.length === 0 ? null : (
        <form method="post" action={`${PREFIX}/pay/${id}`} class="stack">
          <p>{isPayable ? 'Or pay with something else:' : 'Choose what you pay with:'}</p>
          {others.map((route) => (
            <button
              class="btn"
              data-variant={isPayable ? 'outline' : 'primary'}
              name="route"
              value={route}
            >
              {amountText(amount)} {routeText(route)}
            </button>
          ))}
        </form>
      )}
    </>
  );
}

/** Each amount, because a customer may have paid to two checkouts in two currencies. */
function received(link: LinkForCustomer['link']) {
  const amounts = receivedOf(link);
  if (amounts.length === 0) return null;
  return amounts.map(({ receivedAmount, currency }, index) => (
    <>
      {index === 0 ? null : ' and '}
      <Money amount={receivedAmount} currency={currency} />
    </>
  ));
}

/** Without the zeros at its end. */
const amountText = (amount: string) => amount.replace(/(\.\d{2}\d*?)0+$/, '$1');

const ENDED: Readonly<Record<string, string>> = {
  completed: 'The shop has received your payment.',
  underpaid: 'The shop has received less than the amount. Ask it how to go on.',
  refunded: 'Your payment was sent back.',
};

function Ended({
  payment,
  link,
}: LinkForCustomer & { payment: NonNullable<LinkForCustomer['payment']> }) {
  const { status } = payment;
  return (
    <>
      <Alert
        tone={status === 'completed' ? 'good' : 'note'}
        title={ENDED[status] ?? 'This payment has ended.'}
      >
        {isPaidTwice(link) ? 'You have paid more than once. Ask the shop for a refund.' : null}
      </Alert>
      <Facts
        rows={[
          ['Received', received(link)],
          ['Reference', link.reference],
        ]}
      />
    </>
  );
}
