/**
 * The head of the audit log's chain is signed once an hour (decisions/books#audit-log). A worker of an earlier version
 * goes on sealing; it makes no heads.
 */
export const steps = [
  `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS audit_heads_hour
     ON audit_heads (date_bin('1 hour', signed_at, 'epoch'))`,
  'ALTER TABLE audit_heads DROP COLUMN IF EXISTS day',
];
