/** All migrations, in order. Once a version is in production, a change is a new migration. */
import { sql as accountsAndKeys } from './0001-accounts-and-keys';
import { sql as ledger } from './0002-ledger';
import { sql as payouts } from './0003-payouts';
import { sql as payments } from './0004-payments';
import { sql as webhooks } from './0005-webhooks';
import { sql as reconciliation } from './0006-reconciliation';
import { sql as defaults } from './0007-defaults';
import { sql as users } from './0008-users';
import { indexes as queueIndexes, sql as fourEyes } from './0009-four-eyes';
import { indexes as consoleIndexes, sql as console } from './0010-console';
import { sql as requestLog } from './0011-request-log';
import { sql as secondFactors } from './0012-second-factors';
import { indexes as paymentIndexes, sql as policyProposals } from './0013-policy-proposals';
import { indexes as pageIndexes, sql as pages } from './0014-pages';
import { sql as ledgerReport } from './0015-ledger-report';
import { sql as postingSums } from './0015-posting-sums';
import { sql as keyPeppers } from './0016-key-peppers';
import { sql as hiddenSecrets } from './0017-hidden-secrets';
import { sql as merchantRole, tables as accountRows } from './0018-account-rows';
import { sql as caseFacts } from './0020-case-facts';
import { sql as pausesAsRows } from './0021-pauses-as-rows';
import { sql as keyRotation } from './0022-key-rotation';
import { sql as secondAdmin } from './0023-second-admin';
import { sql as provenUsers } from './0025-proven-users';
import { sql as accountRate } from './0026-account-rate';
import { indexes as consolePayoutIndexes, sql as consolePayouts } from './0029-console-payouts';
import { sql as unconfirmedAmount, steps as unconfirmedSteps } from './0031-unconfirmed-amount';
import { indexes as proposalIndexes, sql as oneKindOfProposal } from './0032-one-kind-of-proposal';
import { indexes as batchIndexes, sql as payoutBatches } from './0033-payout-batches';

/**
 * `sql` runs in a transaction. `concurrent` statements run one by one and outside of any, such as CREATE
 * INDEX CONCURRENTLY; each must be safe to run again: IF NOT EXISTS.
 */
export type Migration = { name: string } & ({ sql: string } | { concurrent: readonly string[] });

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-accounts-and-keys', sql: accountsAndKeys },
  { name: '0002-ledger', sql: ledger },
  { name: '0003-payouts', sql: payouts },
  { name: '0004-payments', sql: payments },
  { name: '0005-webhooks', sql: webhooks },
  { name: '0006-reconciliation', sql: reconciliation },
  { name: '0007-defaults', sql: defaults },
  { name: '0008-users', sql: users },
  { name: '0009-payout-queues', concurrent: queueIndexes },
  { name: '0009-four-eyes', sql: fourEyes },
  { name: '0010-console', sql: console },
  { name: '0010-console-indexes', concurrent: consoleIndexes },
  { name: '0011-request-log', sql: requestLog },
  { name: '0012-second-factors', sql: secondFactors },
  { name: '0013-policy-proposals', sql: policyProposals },
  { name: '0013-payment-lists', concurrent: paymentIndexes },
  { name: '0014-page-indexes', concurrent: pageIndexes },
  { name: '0014-pages', sql: pages },
  { name: '0015-posting-sums', sql: postingSums },
  { name: '0015-ledger-report', sql: ledgerReport },
  { name: '0016-key-peppers', sql: keyPeppers },
  { name: '0017-hidden-secrets', sql: hiddenSecrets },
  { name: '0018-merchant-role', sql: merchantRole },
  { name: '0018-account-rows', concurrent: accountRows },
  { name: '0020-case-facts', sql: caseFacts },
  { name: '0021-pauses-as-rows', sql: pausesAsRows },
  { name: '0022-key-rotation', sql: keyRotation },
  { name: '0023-second-admin', sql: secondAdmin },
  { name: '0025-proven-users', sql: provenUsers },
  { name: '0026-account-rate', sql: accountRate },
  { name: '0029-console-payouts', sql: consolePayouts },
  { name: '0029-console-payouts-indexes', concurrent: consolePayoutIndexes },
  { name: '0031-unconfirmed-amount', sql: unconfirmedAmount },
  { name: '0031-unconfirmed-steps', concurrent: unconfirmedSteps },
  { name: '0032-one-kind-of-proposal', sql: oneKindOfProposal },
  { name: '0032-one-kind-of-proposal-indexes', concurrent: proposalIndexes },
  { name: '0033-payout-batches', sql: payoutBatches },
  { name: '0033-payout-batches-indexes', concurrent: batchIndexes },
];
