/** All migrations, in order. A landed migration is never edited; a change is a new one. */
import { sql as rolesAndAccounts } from './0001-roles-and-accounts';
import { sql as ledger } from './0002-ledger';
import { sql as payouts } from './0003-payouts';
import { sql as defaults } from './0004-defaults';
import { sql as admin } from './0005-admin';
import { sql as payments } from './0006-payments';
import { sql as paymentRefunds } from './0007-payment-refunds';
import { sql as webhooks } from './0008-webhooks';
import { sql as reconcile } from './0009-reconciliation';
import { sql as lists } from './0010-lists';
import { sql as webhookRecovery } from './0011-webhook-recovery';

export const MIGRATIONS: readonly { name: string; sql: string }[] = [
  { name: '0001-roles-and-accounts', sql: rolesAndAccounts },
  { name: '0002-ledger', sql: ledger },
  { name: '0003-payouts', sql: payouts },
  { name: '0004-defaults', sql: defaults },
  { name: '0005-admin', sql: admin },
  { name: '0006-payments', sql: payments },
  { name: '0007-payment-refunds', sql: paymentRefunds },
  { name: '0008-webhooks', sql: webhooks },
  { name: '0009-reconciliation', sql: reconcile },
  { name: '0010-lists', sql: lists },
  { name: '0011-webhook-recovery', sql: webhookRecovery },
];
