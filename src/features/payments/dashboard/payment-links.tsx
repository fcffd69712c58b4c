/** Payment links: the list, and one link. */
import type { ComponentChildren } from 'preact';
import { ZERO } from '../../../domain/money';
import type { Creator, DashboardServices } from '../../../shell/dashboard/services';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Secret,
  Status,
  Table,
  Time,
} from '../../../kit/pages/components';
import { Confirm } from '../../../kit/pages/forms';
import { CreateLink, ListPage, PER_PAGE, positionOf } from '../../../kit/pages/lists';
import { get, type MerchantRoute, post, PREFIX } from '../../../kit/pages/merchant-page';
import { page, redirect } from '../../../kit/pages/site';
import { creatorRow } from '../../../kit/pages/history';
import { isPaidTwice, type PaymentLink, type PaymentLinks, statusOf } from '../payment-links';
import { routeText } from '../pages/route-text';
import { newPaymentLinkPages } from './new-payment-link';

const NAV = { nav: 'payment-links' };

interface PaymentLinkPages {
  services: DashboardServices;
  links: PaymentLinks;
  /** The URL of the dashboard. */
  publicUrl: string;
}

export function paymentLinkPages({ services, links, publicUrl }: PaymentLinkPages) {
  const pages: MerchantRoute[] = [
    ...newPaymentLinkPages(services, links),
    get('/payment-links', 'read', async (visit) => {
      const { query, base } = visit;
      const { items, next } = await links.list(visit, {
        limit: PER_PAGE,
        after: positionOf(query),
      });
      const path = `${base}/payment-links`;
      return page(
        'Payment links',
        <ListPage
          title="Payment links"
          lead="A customer opens a link, chooses what to pay with, and pays on the checkout page."
          path={path}
          query={query}
          next={next}
          options={[]}
          texts={[]}
          days={false}
          none={<Empty icon="link" title="No payment links yet" />}
          table={(empty) => <LinkTable rows={items} path={path} empty={empty} />}
        >
          {visit.may('manage') ? (
            <a class="btn" data-variant="outline" href={`${base}/logo`}>
              Logo
            </a>
          ) : null}
          {visit.may('link') ? <CreateLink path={path} label="New payment link" /> : null}
        </ListPage>,
        NAV,
      );
    }),
    get('/payment-links/:id', 'read', async (visit) => {
      const link = await links.findOwn(visit, visit.id);
      const body = (
        <LinkPage
          link={link}
          url={`${publicUrl}${PREFIX}/pay/${link.id}`}
          creator={await services.creatorOf(link.userId)}
          base={visit.base}
          isNew={visit.query.has('created')}
          mayClose={visit.may('link')}
        />
      );
      return page(`Payment link ${link.reference}`, body, NAV);
    }),
    post('/payment-links/:id/close', 'link', async (visit) => {
      const { id } = await links.findOwn(visit, visit.id);
      await links.close(id);
      return redirect(`${visit.base}/payment-links/${id}`);
    }),
  ];
  return pages;
}

interface LinkPageProps {
  link: PaymentLink;
  /** What the customer opens. */
  url: string;
  creator: Creator;
  base: string;
  isNew: boolean;
  mayClose: boolean;
}

function LinkPage({ link, url, creator, base, isNew, mayClose }: LinkPageProps) {
  const status = statusOf(link);
  return (
    <>
      <PageHead
        back={{ href: `${base}/payment-links`, label: 'Payment links' }}
        here={link.reference}
        title={
          <>
            {link.reference} <Status value={status} />
          </>
        }
      >
        {status === 'active' && mayClose ? (
          <Confirm
            action={`${base}/payment-links/${link.id}/close`}
            label="Close link"
            icon="x"
            effect="Nobody can open a checkout with the link any more. One that is open stays payable until it expires."
            confirm="Close this link"
          />
        ) : null}
      </PageHead>
      {status === 'active' ? (
        <Alert
          tone={isNew ? 'good' : 'note'}
          title={isNew ? 'The payment link is ready. Send it to your customer.' : 'Payment link'}
        >
          <Secret value={url} label="Copy link" />
        </Alert>
      ) : null}
      {isPaidTwice(link) ? (
        <Alert tone="wait" title="The customer paid this link more than once.">
          Each amount is credited to your balance. Refund the payment that is too much.
        </Alert>
      ) : null}
      <Card title="Details">
        <Facts
          rows={[
            ['Payment link', <Id value={link.id} />],
            ['Amount', <Amounts link={link} />],
            ['Customer chooses', link.routes.map(routeText).join(', ')],
            [
              link.payments.length > 1 ? 'Payments' : 'Payment',
              <PaymentsOf link={link} base={base} />,
            ],
            ['Description', link.request['description']],
            ['Customer', link.request['customer_email']],
            creatorRow(creator, base, 'Created by'),
            ['Created', <Time at={link.createdAt} seconds />],
            ['Works until', <Time at={link.expiresAt} seconds />],
            ['Closed', link.closedAt === null ? null : <Time at={link.closedAt} seconds />],
          ]}
        />
      </Card>
    </>
  );
}

/** The customer pays the same amount of each currency. */
function Amounts({ link: { amount, routes } }: { link: PaymentLink }) {
  const currencies = new Set(routes.map((route) => route.split(' ')[0] ?? ''));
  return <Money amount={amount} currency={[...currencies].join(' or ')} />;
}

/** Lists every payment, because a customer who switched has opened several. */
function PaymentsOf({ link: { payments }, base }: { link: PaymentLink; base: string }) {
  if (payments.length === 0) return <>The customer has not opened the checkout.</>;
  return (
    <>
      {payments.map(({ id, status, receivedAmount, currency }) => (
        <div>
          <a href={`${base}/payments/${id}`}>{id}</a> <Status value={status} />{' '}
          {receivedAmount === ZERO ? null : <Money amount={receivedAmount} currency={currency} />}
        </div>
      ))}
    </>
  );
}

function LinkTable(props: {
  rows: readonly PaymentLink[];
  path: string;
  empty: ComponentChildren;
}) {
  const { path, ...table } = props;
  return (
    <Table
      {...table}
      caption="Payment links"
      columns={[
        { label: 'Amount', right: true, cell: (link) => <Amounts link={link} /> },
        {
          label: 'Status',
          cell: (link) => (
            <>
              <Status value={statusOf(link)} />
              {isPaidTwice(link) ? <small>Paid more than once</small> : null}
            </>
          ),
        },
        {
          label: 'Reference',
          cell: ({ id, reference }) => (
            <a class="reference" href={`${path}/${id}`} title={reference}>
              {reference}
            </a>
          ),
        },
        { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
        { label: 'Works until', wide: true, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
      ]}
    />
  );
}
