/** The migrations that the baseline replaces, by name: a database that has all of them has its schema. */
export const REPLACED: readonly string[] = `
  baseline/accounts baseline/people baseline/ledger baseline/ledger-check baseline/policies
  baseline/payouts baseline/payout-usage baseline/payments baseline/webhooks baseline/reconciliation
  baseline/request-log baseline/account-rows 0105-endpoint-signatures 0034-refunds 0034-refunds-steps
  0035-recipients 0035-recipients-indexes 0036-payout-conditions 0036-payout-conditions-steps
  0038-screening 0039-rows-left-out 0039-rows-left-out-steps 0040-second-person 0042-second-person-for-all
  0042-roles 0046-payout-schedules 0048-key-limits-of-refunds 0049-notifications 0050-bookkeeping
  0051-schedules-of-people 0051-schedules-of-operators 0051-schedules-indexes
  0052-payouts-await-recipients 0052-payouts-await-recipients-steps 0053-recipient-screening
  0053-recipient-screening-steps 0054-webhooks-by-api 0054-keys-by-api 0055-audit-chain
  0055-audit-chain-steps 0056-payout-dossier 0057-console-search 0058-saved-filters
  0061-payout-beneficiaries 0061-payout-beneficiaries-steps 0063-recipient-decisions
  0064-operator-identities 0065-link-mails 0066-notification-kinds 0066-chat-webhooks 0067-request-logs
  0068-closed-statements 0069-provider-alarms 0070-chat-kinds 0071-password-mails 0072-invitations-again
  0073-alarm-ids 0080-refunds-by-payout 0080-refunds-by-payout-steps 0088-requesters 0089-schedule-claims
  0089-schedule-claims-indexes 0090-looks-at-conditions 0090-looks-at-conditions-indexes
  0092-related-people 0093-line-of-a-person 0094-signals-in-dossiers 0095-hourly-heads
  0096-blocked-decisions 0098-ledger-replays 0099-payment-cancellations 0085-refund-cases
  0086-payment-stands 0100-approved-keys 0101-later-reviews`
  .trim()
  .split(/\s+/);
