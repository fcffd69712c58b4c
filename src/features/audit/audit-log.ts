/** The audit log for pages: everything for operators, and for an owner what concerns the account. */
import { type AuditEntry, type AuditQuery, listAuditPage } from '../../db/audit/audit-log';
import type { ListPage } from '../../db/lists';
import type { Db, Reader } from '../../db/transaction';

export { AUDIT_SOURCES, type AuditEntry, type AuditQuery } from '../../db/audit/audit-log';

/** Actions of operators that a merchant sees. Review rules, limits and pauses stay internal. */
export const VISIBLE_ACTIONS = [
  'account.verify',
  'account.suspend',
  'account.reinstate',
  'account.bookkeeping',
  'account.logo',
  'account.recipients',
  'account.second_person',
  'api_key.create',
  'api_key.edit',
  'api_key.limit',
  'api_key.rotate',
  'api_key.revoke',
  'fee_rule.set',
  'fee_rule.end',
  'payment.cancel',
  'payment.refund',
  'payment.reject',
  'payment.release',
  'user.create',
  'payout.approve',
  'payout.reject',
  'payout_schedule.pause',
  'payout_schedule.resume',
  'recipient.delete',
  'webhook_endpoint.create',
  'webhook_endpoint.edit',
  'webhook_endpoint.roll',
  'webhook_endpoint.enable',
  'webhook_endpoint.disable',
  'webhook_endpoint.delete',
];

export function readAuditLog(db: Db, query: AuditQuery): Promise<ListPage<AuditEntry>> {
  return listAuditPage(db, query);
}

/** A merchant does not see who of the operators did it, from where, and why. */
export async function readAuditLogOfAccount(
  db: Reader,
  accountId: string,
  query: AuditQuery,
): Promise<ListPage<AuditEntry>> {
  // A filter by a person must not tell which of the operators it was.
  const via = query.actor === undefined ? undefined : ('dashboard' as const);
  const wish = { ...query, via, accountId, visibleActions: VISIBLE_ACTIONS };
  const { items, next } = await listAuditPage(db, wish);
  const shown = items.map((entry) =>
    entry.via === 'dashboard' || entry.via === 'api'
      ? entry
      : { ...entry, actor: 'Operator', address: null, reason: null },
  );
  return { items: shown, next };
}
