/** Names of the wallet's workflows. They are stored in histories: never rename one that has run. */

export const SWEEP_WORKFLOW = 'walletSweepWorkflow';

/** The task queue of the workflows and activities of one chain. */
export function walletQueue(chainId: number): string {
  return `wallet-${chainId}`;
}

export function sweepWorkflowId(sweepId: string): string {
  return `wallet-${sweepId}`;
}
