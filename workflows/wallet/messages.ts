/**
 * Inputs, results and activities of the wallet's workflows. They are stored in histories: no keys, no
 * signed transactions, no RPC URLs, and fields are only added.
 */

export interface ChainInput {
  chainId: number;
  network: string;
  mode: string;
  /** The number of turns of one run; by default about a day of them. */
  turnsMax?: number;
}

/** The person who stopped the chain, and the reason. */
export interface ChainPause {
  by: string;
  reason: string;
  at: string;
}

/** The report on the chain's page. */
export interface ChainReport {
  at: string;
  /** The newest block that was read, and the newest final one; null before the first. */
  head: number | null;
  final: number | null;
  queued: number;
  inFlight: number;
  alarms: string[];
}

export interface ChainTurn extends ChainInput {
  /** The pause that the workflow knows. The turn ends when the row says something else. */
  pause: ChainPause | null;
}

export interface ChainState {
  pause: ChainPause | null;
  report: ChainReport;
}

export interface ChainOrder {
  chainId: number;
  kind: 'pause' | 'resume';
  by: string;
  /** Empty for `resume`. */
  reason: string;
}

/** The answer to the query `status`. */
export interface ChainStatus extends ChainInput {
  state: 'starting' | 'working' | 'paused';
  pause: ChainPause | null;
  report: ChainReport | null;
}

export interface AlarmInput {
  chainId: number;
  network: string;
  mode: string;
  alarmId: string;
  kind: string;
  subject: string;
  detail: string;
  raisedAt: string;
  /** The steps that a person has to take. */
  remedy: string;
}

export interface AlarmState {
  detail: string;
  isOpen: boolean;
  acknowledgedBy: string | null;
  /** Null when the alarm ended by itself, or is open. */
  resolvedBy: string | null;
  resolution: string | null;
  /** The reason why `resolve` had no effect. */
  refusal: string | null;
}

export interface AlarmDecision {
  alarmId: string;
  kind: 'acknowledge' | 'resolve';
  by: string;
  reason: string | null;
}

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
  /** Runs the loops of the chain until the pause changes or it is time for a report. */
  runChain(turn: ChainTurn): Promise<ChainState>;
  changePause(order: ChainOrder): Promise<void>;
  readAlarm(alarmId: string): Promise<AlarmState>;
  decideAlarm(decision: AlarmDecision): Promise<AlarmState>;
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
