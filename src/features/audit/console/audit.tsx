/** Who did what, when and from where: all of it. */
import type { ConsoleServices } from '../../../shell/console/services';
import { AuditPage, auditQueryOf } from '../pages/audit-log';
import { Card, Facts, Id, Time } from '../../../kit/pages/components';
import { Icon } from '../../../kit/pages/icon';
import { PageRefusal } from '../../../kit/pages/problems';
import { jsonDownload, page } from '../../../kit/pages/site';
import { get, type OperatorRoute, PREFIX } from '../../../kit/pages/operator-page';

export function auditPages({ auditLog, auditHead }: ConsoleServices): OperatorRoute[] {
  return [
    get('/audit-log', 'read', async ({ query }) => {
      const [{ items, next }, head] = await Promise.all([
        auditLog(auditQueryOf(query)),
        auditHead(),
      ]);
      const body = (
        <>
          <AuditPage
            title="Audit log"
            lead="Changes by operators and merchants, and sign-ins. Entries cannot be changed."
            path={`${PREFIX}/audit-log`}
            query={query}
            entries={items}
            next={next}
            accountHref={(id) => `${PREFIX}/accounts/${id}`}
          />
          <Head head={head} />
        </>
      );
      return page('Audit log', body, { nav: 'audit' });
    }),
    get('/audit-log/head.json', 'read', async () => {
      const head = await auditHead();
      if (head === null) throw new PageRefusal('page_not_found');
      return jsonDownload(`audit-head-${head.signed_at.slice(0, 13)}.json`, head);
    }),
  ];
}

/** The newest head of the log, with which a copy is compared; it helps only if it is kept elsewhere. */
function Head({ head }: { head: Awaited<ReturnType<ConsoleServices['auditHead']>> }) {
  return (
    <Card
      title="Head of the chain"
      lead="A head is created every hour. Keep it outside the database, and use admin audit verify --head FILE to find entries that were changed, removed or inserted."
    >
      {head === null ? (
        <p class="muted">No head yet. The schedule audit-seal makes the first one.</p>
      ) : (
        <>
          <Facts
            rows={[
              ['Entries', head.sequence.toLocaleString('en')],
              ['Hash', <Id value={head.hash} />],
              ['Made', <Time at={new Date(head.signed_at)} seconds />],
              ['Signed with', head.key_id ?? 'No key: set EVIDENCE_SIGNING_KEY'],
            ]}
          />
          <div>
            <a class="btn" data-variant="outline" href={`${PREFIX}/audit-log/head.json`} download>
              <Icon name="download" /> Download the head
            </a>
          </div>
        </>
      )}
    </Card>
  );
}
