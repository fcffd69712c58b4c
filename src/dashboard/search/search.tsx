/** One search box: an id opens its page, anything else is looked for as a reference. */
import { isId } from '../../domain/ids';
import type { DashboardServices } from '../../services/dashboard';
import { Card, Empty, PageHead } from '../../web/components';
import { page, redirect } from '../../web/site';
import { textOf } from '../../web/lists';
import type { MerchantRoute } from '../merchant-page';
import { PaymentTable } from '../payments/payments';
import { PayoutTable } from '../payouts/payouts';

const PAGES = {
  payment: '/payments',
  payout: '/payouts',
  payoutBatch: '/batches',
  payoutSchedule: '/schedules',
  recipient: '/recipients',
  refund: '/refunds',
  apiKey: '/keys',
  webhookEndpoint: '/webhooks',
  webhookDelivery: '/webhooks/deliveries',
  request: '/requests',
} as const;

const FOUND_MAX = 25;

export function searchPages({ payments, payouts }: DashboardServices): MerchantRoute[] {
  return [
    {
      method: 'get',
      path: '/search',
      needs: 'read',
      run: async (visit) => {
        const { base, query } = visit;
        const wanted = textOf(query, 'q') ?? '';
        const kinds = Object.keys(PAGES) as (keyof typeof PAGES)[];
        const kind = kinds.find((one) => isId(one, wanted));
        if (kind !== undefined) return redirect(`${base}${PAGES[kind]}/${wanted}`);
        const list = { limit: FOUND_MAX, after: null, filters: { reference: wanted } };
        const [foundPayments, foundPayouts] = await Promise.all([
          payments(visit, list),
          payouts(visit, list),
        ]);
        const [payment, payout] = [foundPayments.items, foundPayouts.items];
        return page(
          'Search',
          <>
            <PageHead title="Search" lead={`Reference “${wanted}”`} />
            {payment.length + payout.length === 0 ? (
              <Card>
                <Empty icon="search-x" title="Nothing was found">
                  <p>Enter an id such as pay_…, po_… or req_…, or the exact reference.</p>
                </Empty>
              </Card>
            ) : null}
            {payment.length === 0 ? null : (
              <Card title="Payments" flush>
                <PaymentTable rows={payment} path={`${base}/payments`} empty={null} />
              </Card>
            )}
            {payout.length === 0 ? null : (
              <Card title="Payouts" flush>
                <PayoutTable rows={payout} path={`${base}/payouts`} empty={null} />
              </Card>
            )}
          </>,
        );
      },
    },
  ];
}
