/** The amounts below which the people of the account are notified of a balance. */
import type { DashboardServices } from '../../../shell/dashboard/services';
import { alertLowBalances } from '../balance-alerts';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import { FormActions, type FormState } from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import { type MerchantRoute, PREFIX } from '../../../kit/pages/merchant-page';

const NAV = { nav: 'notifications' };

export function lowBalancePages({ db, balanceAlerts }: DashboardServices): MerchantRoute[] {
  return [
    ...merchantForm({
      path: '/low-balances',
      ...alertLowBalances.access,
      values: async (visit) => {
        const alerts = Object.entries(await balanceAlerts(visit));
        const below = alerts.map(([currency, amount]) => `${currency}=${amount}`).join(', ');
        return new URLSearchParams({ below });
      },
      show: ({ base, query }, form) =>
        page(
          'Low balances',
          <LowBalances base={base} form={form} saved={query.has('saved')} />,
          NAV,
        ),
      send: async ({ accountId, mode, by, form, base }) => {
        const input = readFields(alertLowBalances, form);
        await alertLowBalances.make(db, by, { accountId, mode }, input);
        return redirect(`${base}/low-balances?saved`);
      },
    }),
  ];
}

interface LowBalancesProps {
  base: string;
  form: FormState;
  saved: boolean;
}

function LowBalances({ base, form, saved }: LowBalancesProps) {
  const choices = `${PREFIX}/notifications`;
  return (
    <>
      <PageHead
        back={{ href: choices, label: 'Notifications' }}
        title="Low balances"
        lead="Owners and finance are notified once when an available balance falls below its amount, and again after it has recovered. The amounts are those of this mode."
      />
      {saved ? <Alert tone="good" title="The amounts were saved." /> : null}
      <Card>
        <form method="post" action={`${base}/low-balances`} class="stack">
          <ChangeFields change={alertLowBalances} form={form} />
          <FormActions submit="Save amounts" cancel={choices} />
        </form>
      </Card>
    </>
  );
}
