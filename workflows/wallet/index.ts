/** The entry of the wallet's workflow bundle: every workflow that a wallet can run. */
export { walletAlarmWorkflow } from './alarm';
export { walletChainWorkflow } from './chain';
export { walletSweepWorkflow } from './sweep';
