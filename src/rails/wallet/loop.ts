/** Work that repeats until the wallet stops. A failure is logged, and the work is tried again. */
import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '../../platform/lib/command-line';
import type { Log } from './config';

export interface Loop {
  /** Ends a pause at once: there is work. */
  wake(): void;
  /** Waits for the end of the current step. */
  stop(): Promise<void>;
}

const FAILURE_PAUSE_MS = 1_000;

/**
 * @param step returns 'more' when the next step must not wait
 * @param pauseMs between steps
 */
export function startLoop(
  name: string,
  log: Log,
  pauseMs: number,
  step: (signal: AbortSignal) => Promise<'more' | undefined>,
): Loop {
  const stopping = new AbortController();
  let alarmClock = new AbortController();
  const pause = async (ms: number): Promise<void> => {
    const signal = AbortSignal.any([stopping.signal, alarmClock.signal]);
    await wait(ms, undefined, { signal }).catch(() => undefined);
    alarmClock = new AbortController();
  };
  const repeat = async (signal: AbortSignal): Promise<void> => {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        if ((await step(signal)) !== 'more') await pause(pauseMs);
      } catch (error) {
        if (isOver()) return;
        log('warn', `${name} failed and will be tried again`, { error: errorText(error) });
        await pause(Math.max(pauseMs, FAILURE_PAUSE_MS));
      }
    }
  };
  const ended = repeat(stopping.signal);
  return {
    wake: () => {
      alarmClock.abort();
    },
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

/** Loops that start and stop together. */
export function joinLoops(loops: readonly Loop[]): Loop {
  return {
    wake: () => {
      for (const loop of loops) loop.wake();
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
