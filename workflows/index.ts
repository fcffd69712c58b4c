/** The entry of the workflow bundle: every workflow that a worker can run. */
export { cleanUpWorkflow } from './clean-up';
export { reconciliationWorkflow } from './reconciliation';
export { auditSealWorkflow } from './audit-seal';
export { ledgerCheckWorkflow } from './ledger-check';
export { notificationsWorkflow, notificationWorkflow } from './notification';
export { paymentWorkflow } from './payment';
export { payoutWorkflow } from './payout';
export { payoutBatchWorkflow } from './payout-batch';
export { payoutScheduleRunWorkflow } from './payout-schedule-run';
export { payoutSchedulesWorkflow } from './payout-schedules';
export { restartMissingWorkflow, resumeHeldWorkflow } from './restart-missing';
export { providerAlarmsWorkflow } from './provider-alarms';
export { screenRecipientsWorkflow } from './screen-recipients';
export { webhookDeliveryWorkflow } from './webhook-delivery';
