/** The entry of the workflow bundle: every workflow that a worker can run. */
export { paymentWorkflow } from './payment';
export { payoutWorkflow } from './payout';
export { reconcileWorkflow } from './reconcile';
