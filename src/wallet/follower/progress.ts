/**
 * An alarm while blocks are not read: the follower is behind the chain's newest block, or sees none,
 * and its place has not moved for minutes. It ends with the next block that is read. A chain without
 * new blocks raises nothing, and neither does one that is paused.
 */
import { wallClockMs } from '../../lib/wall-clock';
import type { Alarms } from '../alarms';

interface Block {
  number: number;
  hash: string;
}

export interface ProgressOfStep {
  /** The newest block that was read; null before the first one. */
  place: Block | null;
  /** The newest block of a node; null when none told it. */
  head: Block | null;
  isPaused: boolean;
  /** Why the step did not end. */
  failure: string | null;
}

/** It exceeds the time after which the next node is asked. */
export const STALLED_AFTER_MS = 180_000;

export class ProgressWatch {
  private placeHash: string | undefined;
  /** When it was, by the monotonic clock and for people. */
  private behind: { atMs: number; since: string } | null = null;

  constructor(
    private readonly name: string,
    private readonly alarms: Alarms,
    private readonly stalledAfterMs = STALLED_AFTER_MS,
  ) {}

  /** Is called after each step, whatever came of it. */
  async observe({ place, head, isPaused, failure }: ProgressOfStep): Promise<void> {
    const hasMoved = place?.hash !== this.placeHash;
    this.placeHash = place?.hash;
    if (isPaused || hasMoved || (head !== null && head.hash === place?.hash)) {
      this.behind = null;
      await this.alarms.clear('follower_stalled', this.name);
      return;
    }
    this.behind ??= { atMs: performance.now(), since: new Date(wallClockMs()).toISOString() };
    if (performance.now() - this.behind.atMs < this.stalledAfterMs) return;
    const { since } = this.behind;
    const cause =
      head === null
        ? 'no node tells its newest block'
        : `the newest block of a node is ${head.number}, and it cannot be followed there`;
    const at = place === null ? '' : `, when the wallet was at block ${place.number}`;
    const words = failure === null ? '' : ` (${failure})`;
    await this.alarms.raise(
      'follower_stalled',
      this.name,
      `No block of ${this.name} was read since ${since}${at}: ${cause}${words}. Deposits are not seen meanwhile. Look at the nodes and at the wallet's log.`,
    );
  }
}
