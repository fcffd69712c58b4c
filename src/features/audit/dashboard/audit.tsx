/** Who did what in the account, for its owner. */
import type { DashboardServices } from '../../../shell/dashboard/services';
import { AuditPage, auditQueryOf } from '../pages/audit-log';
import { page } from '../../../kit/pages/site';
import { get, type MerchantRoute } from '../../../kit/pages/merchant-page';

export function auditPages({ auditLog }: DashboardServices): MerchantRoute[] {
  return [
    get('/audit-log', 'manage', async ({ accountId, base, query }) => {
      const { items, next } = await auditLog(accountId, auditQueryOf(query));
      const body = (
        <AuditPage
          title="Audit log"
          lead="Sign-ins and changes in both modes, and what the operator changed. Entries cannot be changed."
          path={`${base}/audit-log`}
          query={query}
          entries={items}
          next={next}
          accountHref={null}
        />
      );
      return page('Audit log', body, { nav: 'audit' });
    }),
  ];
}
