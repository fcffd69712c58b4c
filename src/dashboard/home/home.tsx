/** The start page of a merchant: balances, and what needs attention. */
import type { DashboardServices } from '../../services/dashboard';
import { Card, Empty, Money, PageHead } from '../../web/components';
import { page } from '../../web/site';
import type { MerchantRoute } from '../merchant-page';

export function homePages({ balances }: DashboardServices): MerchantRoute[] {
  return [
    {
      method: 'get',
      path: '',
      needs: 'read',
      run: async ({ accountId, mode }) =>
        page('Home', <Home balances={await balances(accountId, mode)} />, { nav: 'home' }),
    },
  ];
}

type Balance = Awaited<ReturnType<DashboardServices['balances']>>[number];

function Home({ balances }: { balances: Balance[] }) {
  return (
    <>
      <PageHead title="Home" />
      <Balances balances={balances} />
    </>
  );
}

function Balances({ balances }: { balances: Balance[] }) {
  if (balances.length === 0) {
    return (
      <Card>
        <Empty icon="wallet" title="No balance yet">
          <p>A balance appears with the first payment that a customer pays.</p>
        </Empty>
      </Card>
    );
  }
  return (
    <div class="grid">
      {balances.map(({ currency, available, reserved, pending }) => (
        <section class="box">
          <h2>{currency}</h2>
          <div>
            <p class="muted">Available</p>
            <p class="figure">
              <Money amount={available} currency={currency} />
            </p>
          </div>
          <dl class="facts">
            <div>
              <dt>Reserved</dt>
              <dd>
                <Money amount={reserved} currency={currency} />
              </dd>
            </div>
            <div>
              <dt>Pending</dt>
              <dd>
                <Money amount={pending} currency={currency} />
              </dd>
            </div>
          </dl>
        </section>
      ))}
    </div>
  );
}
