/**
 * All migrations, in order. Until the first release, the schema is one baseline for each group of tables.
 * What is on main is never changed; a change is a new migration with the next number, from 0034 on.
 */
import { sql as refunds, steps as refundSteps } from './0034-refunds';
import { indexes as recipientIndexes, sql as recipients } from './0035-recipients';
import { sql as payoutConditions, steps as conditionSteps } from './0036-payout-conditions';
import { sql as screening } from './0038-screening';
import { sql as secondPerson } from './0040-second-person';
import { sql as secondPersonForAll, steps as roleSteps } from './0042-second-person-for-all';
import { sql as keyLimitsOfRefunds } from './0048-key-limits-of-refunds';
import { sql as notifications } from './0049-notifications';
import { sql as bookkeeping } from './0050-bookkeeping';
import {
  indexes as scheduleIndexes,
  operatorRights as schedulesOfOperators,
  sql as schedulesOfPeople,
} from './0051-schedules-of-people';
import {
  sql as payoutsAwaitRecipients,
  steps as payoutsAwaitRecipientsSteps,
} from './0052-payouts-await-recipients';
import { sql as keysByApi } from './0054-keys-by-api';
import {
  sql as recipientScreening,
  steps as recipientScreeningSteps,
} from './0053-recipient-screening';
import { sql as webhooksByApi } from './0054-webhooks-by-api';
import { sql as auditChain, steps as auditChainSteps } from './0055-audit-chain';
import { sql as payoutDossier } from './0056-payout-dossier';
import { steps as searchSteps } from './0057-console-search';
import { sql as savedFilters } from './0058-saved-filters';
import {
  sql as payoutBeneficiaries,
  steps as payoutBeneficiarySteps,
} from './0061-payout-beneficiaries';
import { sql as recipientDecisions } from './0063-recipient-decisions';
import { sql as operatorIdentities } from './0064-operator-identities';
import { sql as linkMails } from './0065-link-mails';
import { sql as notificationKinds } from './0066-notification-kinds';
import { sql as chatWebhooks } from './0066-chat-webhooks';
import { sql as requestLogs } from './0067-request-logs';
import { sql as closedStatements } from './0068-closed-statements';
import { sql as providerAlarms } from './0069-provider-alarms';
import { sql as chatKinds } from './0070-chat-kinds';
import { sql as passwordMails } from './0071-password-mails';
import { sql as invitationsAgain } from './0072-invitations-again';
import { sql as alarmIds } from './0073-alarm-ids';
import { sql as requesters } from './0088-requesters';
import { sql as relatedPeople } from './0092-related-people';
import { sql as lineOfAPerson } from './0093-line-of-a-person';
import { sql as signalsInDossiers } from './0094-signals-in-dossiers';
import { sql as ledgerReplays } from './0098-ledger-replays';
import { sql as paymentCancellations } from './0099-payment-cancellations';
import { sql as approvedKeys } from './0100-approved-keys';
import { sql as laterReviews } from './0101-later-reviews';
import { indexes as scheduleClaimIndexes, sql as scheduleClaims } from './0089-schedule-claims';
import {
  indexes as looksAtConditionsIndexes,
  sql as looksAtConditions,
} from './0090-looks-at-conditions';
import { steps as hourlyHeads } from './0095-hourly-heads';
import { sql as refundsByPayout, steps as refundsByPayoutSteps } from './0080-refunds-by-payout';
import { sql as refundCases } from './0085-refund-cases';
import { sql as paymentStands } from './0086-payment-stands';
import { sql as blockedDecisions } from './0096-blocked-decisions';
import { sql as accountRows } from './baseline/account-rows';
import { sql as accounts } from './baseline/accounts';
import { sql as ledger } from './baseline/ledger';
import { sql as ledgerCheck } from './baseline/ledger-check';
import { sql as payments } from './baseline/payments';
import { sql as payouts } from './baseline/payouts';
import { sql as payoutUsage } from './baseline/payout-usage';
import { sql as people } from './baseline/people';
import { sql as policies } from './baseline/policies';
import { sql as reconciliation } from './baseline/reconciliation';
import { sql as requestLog } from './baseline/request-log';
import { sql as webhooks } from './baseline/webhooks';
import { sql as rowsLeftOut, steps as leftOutSteps } from './0039-rows-left-out';
import { sql as payoutSchedules } from './0046-payout-schedules';
import { sql as endpointSignatures } from './0105-endpoint-signatures';

/**
 * `sql` runs in a transaction. `concurrent` statements run one by one and outside of any, such as CREATE
 * INDEX CONCURRENTLY; each must be safe to run again: IF NOT EXISTS.
 */
export type Migration = { name: string } & ({ sql: string } | { concurrent: readonly string[] });

/** Their names differ from those that they replace (./replaced), which an older database has on record. */
export const BASELINE: readonly Migration[] = [
  { name: 'baseline/accounts', sql: accounts },
  { name: 'baseline/people', sql: people },
  { name: 'baseline/ledger', sql: ledger },
  { name: 'baseline/ledger-check', sql: ledgerCheck },
  { name: 'baseline/policies', sql: policies },
  { name: 'baseline/payouts', sql: payouts },
  { name: 'baseline/payout-usage', sql: payoutUsage },
  { name: 'baseline/payments', sql: payments },
  { name: 'baseline/webhooks', sql: webhooks },
  { name: 'baseline/reconciliation', sql: reconciliation },
  { name: 'baseline/request-log', sql: requestLog },
  { name: 'baseline/account-rows', sql: accountRows },
  { name: '0105-endpoint-signatures', sql: endpointSignatures },
];

export const MIGRATIONS: readonly Migration[] = [
  ...BASELINE,
  { name: '0034-refunds', sql: refunds },
  { name: '0034-refunds-steps', concurrent: refundSteps },
  { name: '0035-recipients', sql: recipients },
  { name: '0035-recipients-indexes', concurrent: recipientIndexes },
  { name: '0036-payout-conditions', sql: payoutConditions },
  { name: '0036-payout-conditions-steps', concurrent: conditionSteps },
  { name: '0038-screening', sql: screening },
  { name: '0039-rows-left-out', sql: rowsLeftOut },
  { name: '0039-rows-left-out-steps', concurrent: leftOutSteps },
  { name: '0040-second-person', sql: secondPerson },
  { name: '0042-second-person-for-all', sql: secondPersonForAll },
  { name: '0042-roles', concurrent: roleSteps },
  { name: '0046-payout-schedules', sql: payoutSchedules },
  { name: '0048-key-limits-of-refunds', sql: keyLimitsOfRefunds },
  { name: '0049-notifications', sql: notifications },
  { name: '0050-bookkeeping', sql: bookkeeping },
  { name: '0051-schedules-of-people', sql: schedulesOfPeople },
  { name: '0051-schedules-of-operators', sql: schedulesOfOperators },
  { name: '0051-schedules-indexes', concurrent: scheduleIndexes },
  { name: '0052-payouts-await-recipients', sql: payoutsAwaitRecipients },
  { name: '0052-payouts-await-recipients-steps', concurrent: payoutsAwaitRecipientsSteps },
  { name: '0053-recipient-screening', sql: recipientScreening },
  { name: '0053-recipient-screening-steps', concurrent: recipientScreeningSteps },
  { name: '0054-webhooks-by-api', sql: webhooksByApi },
  { name: '0054-keys-by-api', sql: keysByApi },
  { name: '0055-audit-chain', sql: auditChain },
  { name: '0055-audit-chain-steps', concurrent: auditChainSteps },
  { name: '0056-payout-dossier', sql: payoutDossier },
  { name: '0057-console-search', concurrent: searchSteps },
  { name: '0058-saved-filters', sql: savedFilters },
  { name: '0061-payout-beneficiaries', sql: payoutBeneficiaries },
  { name: '0061-payout-beneficiaries-steps', concurrent: payoutBeneficiarySteps },
  { name: '0063-recipient-decisions', sql: recipientDecisions },
  { name: '0064-operator-identities', sql: operatorIdentities },
  { name: '0065-link-mails', sql: linkMails },
  { name: '0066-notification-kinds', sql: notificationKinds },
  { name: '0066-chat-webhooks', sql: chatWebhooks },
  { name: '0067-request-logs', sql: requestLogs },
  { name: '0068-closed-statements', sql: closedStatements },
  { name: '0069-provider-alarms', sql: providerAlarms },
  { name: '0070-chat-kinds', sql: chatKinds },
  { name: '0071-password-mails', sql: passwordMails },
  { name: '0072-invitations-again', sql: invitationsAgain },
  { name: '0073-alarm-ids', sql: alarmIds },
  { name: '0080-refunds-by-payout', sql: refundsByPayout },
  { name: '0080-refunds-by-payout-steps', concurrent: refundsByPayoutSteps },
  { name: '0088-requesters', sql: requesters },
  { name: '0089-schedule-claims', sql: scheduleClaims },
  { name: '0089-schedule-claims-indexes', concurrent: scheduleClaimIndexes },
  { name: '0090-looks-at-conditions', sql: looksAtConditions },
  { name: '0090-looks-at-conditions-indexes', concurrent: looksAtConditionsIndexes },
  { name: '0092-related-people', sql: relatedPeople },
  { name: '0093-line-of-a-person', sql: lineOfAPerson },
  { name: '0094-signals-in-dossiers', sql: signalsInDossiers },
  { name: '0095-hourly-heads', concurrent: hourlyHeads },
  { name: '0096-blocked-decisions', sql: blockedDecisions },
  { name: '0098-ledger-replays', sql: ledgerReplays },
  { name: '0099-payment-cancellations', sql: paymentCancellations },
  { name: '0085-refund-cases', sql: refundCases },
  { name: '0086-payment-stands', sql: paymentStands },
  { name: '0100-approved-keys', sql: approvedKeys },
  { name: '0101-later-reviews', sql: laterReviews },
];
