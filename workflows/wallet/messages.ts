/**
 * Inputs, results and activities of the wallet's workflows. They are stored in histories: no keys, no
 * signed transactions, no RPC URLs, and fields are only added.
 */

export interface SweepInput {
  chainId: number;
  sweepId: string;
  network: string;
  mode: string;
  asset: string;
  destination: string;
  addresses: number;
  /** The maximum cost in the native coin. */
  costMax: string;
}

export interface SweepResult {
  /** Addresses whose money is at the destination, in final blocks. */
  moved: number;
  /** Null: nothing failed. */
  failure: string | null;
}

/** The activities, as src/rails/wallet/durable implements them. Each is safe to repeat. */
export interface WalletActivities {
  /** Orders the coins for network fees. @returns how many addresses get some */
  fundSweep(sweepId: string): Promise<number>;
  /** @returns why the sweep cannot go on, or null when all coins are in final blocks */
  awaitFunding(sweepId: string): Promise<string | null>;
  /** Broadcasts the stored transactions. */
  sendSweep(sweepId: string): Promise<void>;
  /** Waits until every nonce is final, and stores the outcome. */
  awaitSweep(sweepId: string): Promise<number>;
  endSweep(sweepId: string, failure: string | null): Promise<void>;
}
