/**
 * An alarm while blocks are not read: the follower is behind the chain's newest block, or sees none,
 * and its place has not moved for minutes. It ends with the next block that is read. Another one while
 * blocks are read and none becomes final. A chain without new blocks raises neither, nor does a paused one.
 */
import { wallClockMs } from '../../../platform/lib/wall-clock';
import type { Alarms } from '../alarms';

interface Block {
  number: number;
  hash: string;
}

export interface ProgressOfStep {
  /** The newest block that was read; null before the first one. */
  place: (Block & { final: number }) | null;
  /** The newest block of a node; null when none told it. */
  head: Block | null;
  isPaused: boolean;
  /** Why the step did not end. */
  failure: string | null;
}

/** It exceeds the time after which the next node is asked. */
export const STALLED_AFTER_MS = 180_000;
/** Ethereum has a new final block every 6.4 minutes; its second layers follow some of these. */
const UNFINAL_AFTER_MS = 1_800_000;

/** A moment, by the monotonic clock and for people. */
interface Moment {
  atMs: number;
  since: string;
}

function now(): Moment {
  return { atMs: performance.now(), since: new Date(wallClockMs()).toISOString() };
}

export interface Patience {
  stalledAfterMs?: number;
  unfinalAfterMs?: number;
}

export class ProgressWatch {
  private placeHash: string | undefined;
  private behind: Moment | null = null;
  /** The final block since it moved last, and the newest block since that moved. */
  private final: (Moment & { number: number; head: number; headAtMs: number }) | null = null;

  constructor(
    private readonly name: string,
    private readonly alarms: Alarms,
    private readonly patience: Patience,
  ) {}

  /** Is called after each step, whatever came of it. */
  async observe(step: ProgressOfStep): Promise<void> {
    await this.observeFinal(step);
    await this.observeHead(step);
  }

  private async observeFinal({ place, isPaused }: ProgressOfStep): Promise<void> {
    if (place === null || isPaused) {
      this.final = null;
      return;
    }
    if (this.final?.number !== place.final) {
      if (this.final !== null) await this.alarms.clear('finality_stalled', this.name);
      const moved = now();
      this.final = { ...moved, number: place.final, head: place.number, headAtMs: moved.atMs };
      return;
    }
    if (this.final.head !== place.number) {
      this.final = { ...this.final, head: place.number, headAtMs: performance.now() };
    }
    const { atMs, since, headAtMs } = this.final;
    const { unfinalAfterMs = UNFINAL_AFTER_MS } = this.patience;
    if (headAtMs - atMs < unfinalAfterMs) return;
    await this.alarms.raise(
      'finality_stalled',
      this.name,
      `The final block of ${this.name} has been ${place.final} since ${since}, and the wallet has read up to block ${place.number}. No deposit and no payout is confirmed meanwhile. Compare the block "finalized" of the nodes, and replace a node that lacks it.`,
    );
  }

  private async observeHead({ place, head, isPaused, failure }: ProgressOfStep): Promise<void> {
    const { stalledAfterMs = STALLED_AFTER_MS } = this.patience;
    const hasMoved = place?.hash !== this.placeHash;
    this.placeHash = place?.hash;
    if (isPaused || hasMoved || (head !== null && head.hash === place?.hash)) {
      this.behind = null;
      await this.alarms.clear('follower_stalled', this.name);
      return;
    }
    this.behind ??= now();
    if (performance.now() - this.behind.atMs < stalledAfterMs) return;
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
