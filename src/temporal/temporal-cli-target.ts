/**
 * What temporal-cli.ts asks of each way to get the binary, and what it answers.
 */
export interface BuildTarget {
  version: string;
  /** Where temporary folders may be made: on the same disk as the binary. */
  folder: string;
  /** Where the binary has to end up. */
  binary: string;
}

/** The binary's path, or the reason why this way is closed here. */
export type Acquisition = { path: string } | { unavailable: string };
