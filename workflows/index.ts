/** The entry of the workflow bundle: every workflow that a worker can run. */
export { booksWorkflow } from './books';
export { ledgerCheckWorkflow } from './ledger-check';
export { paymentWorkflow } from './payment';
export { payoutWorkflow } from './payout';
export { reconcileWorkflow } from './reconcile';
export { webhookDeliveryWorkflow } from './webhook-delivery';
