/** Who did what, when and from where: all of it. */
import type { ConsoleServices } from '../../services/console';
import { AuditPage, auditQueryOf } from '../../web/audit-log';
import { page } from '../../web/site';
import { type OperatorRoute, PREFIX } from '../operator-page';

export function auditPages({ auditLog }: ConsoleServices): OperatorRoute[] {
  return [
    {
      method: 'get',
      path: '/audit-log',
      needs: 'read',
      run: async ({ query }) => {
        const { items, next } = await auditLog(auditQueryOf(query));
        const body = (
          <AuditPage
            title="Audit log"
            lead="Changes by operators and merchants, and sign-ins. Entries cannot be changed."
            path={`${PREFIX}/audit-log`}
            query={query}
            entries={items}
            next={next}
            accountHref={(id) => `${PREFIX}/accounts/${id}`}
          />
        );
        return page('Audit log', body, { nav: 'audit' });
      },
    },
  ];
}
