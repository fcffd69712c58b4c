/** Names of the wallet's workflows. They are stored in histories: never rename one that has run. */

export const WALLET_WORKFLOWS = {
  chain: 'walletChainWorkflow',
  sweep: 'walletSweepWorkflow',
  alarm: 'walletAlarmWorkflow',
} as const;

/** The task queue of the workflows and activities of one chain. */
export function walletQueue(chainId: number): string {
  return `wallet-${chainId}`;
}

export function chainWorkflowId(chainId: number): string {
  return `wallet-chain-${chainId}`;
}

export function sweepWorkflowId(sweepId: string): string {
  return `wallet-${sweepId}`;
}

export function alarmWorkflowId(chainId: number, alarmId: string): string {
  return `wallet-alarm-${chainId}-${alarmId}`;
}
