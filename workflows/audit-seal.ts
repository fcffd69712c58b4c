/** Runs every 30 seconds: seals the new entries of the audit log, and signs its head once an hour. */
import { log } from '@temporalio/workflow';
import { activities } from './activities';

const { sealAuditLog } = activities<'sealAuditLog'>({
  // The first run after an upgrade seals the log of an older installation; each batch is a transaction.
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3 },
});

/** @returns the number of entries that it sealed */
export async function auditSealWorkflow(): Promise<number> {
  const { sealed, head } = await sealAuditLog();
  // A copy outside of the database, where its owner cannot change it.
  if (head !== null) log.info('audit head', { audit_head: head });
  return sealed;
}
