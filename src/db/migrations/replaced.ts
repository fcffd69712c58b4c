/**
 * The migrations that the baseline replaces, by name. A database that has all of them has the baseline's
 * schema (../migrate).
 */
export const REPLACED: readonly string[] = `
  0001-accounts-and-keys 0002-ledger 0003-payouts 0004-payments 0005-webhooks 0006-reconciliation
  0007-defaults 0008-users 0009-payout-queues 0009-four-eyes 0010-console 0010-console-indexes
  0011-request-log 0012-second-factors 0013-policy-proposals 0013-payment-lists 0014-page-indexes
  0014-pages 0015-posting-sums 0015-ledger-report 0016-key-peppers 0017-hidden-secrets
  0018-merchant-role 0018-account-rows 0020-case-facts 0021-pauses-as-rows 0022-key-rotation
  0023-second-admin 0025-proven-users 0026-account-rate 0029-console-payouts
  0029-console-payouts-indexes 0031-unconfirmed-amount 0031-unconfirmed-steps
  0032-one-kind-of-proposal 0032-one-kind-of-proposal-indexes 0033-payout-batches
  0033-payout-batches-indexes`
  .trim()
  .split(/\s+/);
