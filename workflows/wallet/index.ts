/** The entry of the wallet's workflow bundle. */
export { walletSweepWorkflow } from './sweep';
