/** What a row of the benchmark is: the gateway and its bare limit, measured in turns. */

/** A bound of a ratio (gateway divided by bare limit) or of the gateway's own figure. */
export type Aim = { atLeast: number } | { atMost: number };

/** One line of the table. */
export interface Figure {
  /** With its unit: `requests/s`, `p50 ms`. */
  name: string;
  /** The aim of the ratio of the gateway's figure to that of the bare limit. */
  ratio?: Aim;
  /** The aim of the gateway's figure. */
  limit?: Aim;
  /** The part by which the gateway's figure may grow over baseline.json; without it, there is none. */
  tolerance?: number;
}

/** By the names of the row's figures. */
export type Measured = Readonly<Record<string, number>>;

export interface Side {
  /** @param ms how long to measure; counting sides may ignore it */
  measure(ms: number): Promise<Measured>;
}

export interface Contest {
  gateway: Side;
  /** Null: the gateway's figures are compared with fixed limits only. */
  bare: Side | null;
  stop(): Promise<void>;
}

export interface Setting {
  /** Short rounds and a small volume. */
  isQuick: boolean;
  /** To the person who waits. */
  log(line: string): void;
}

export interface Row {
  /** For --only: `delivery-latency`. */
  name: string;
  /** What both sides do. */
  description: string;
  /** PostgreSQL always runs. */
  needsTemporal: boolean;
  figures: readonly Figure[];
  /** Instead of the usual number. Counted figures are equal in every round: 1. */
  rounds?: number;
  prepare(setting: Setting): Promise<Contest>;
}
