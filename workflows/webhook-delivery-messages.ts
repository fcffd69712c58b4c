/** The messages that a delivery's workflow takes. */
import { defineSignal } from '@temporalio/workflow';
import { SIGNALS } from './names';

/** Operators type the input by hand, so it is whatever they typed. */
export const retryNowSignal = defineSignal<unknown[]>(SIGNALS.retryNow);
export const abandonSignal = defineSignal<unknown[]>(SIGNALS.abandon);

/** The row has changed: somebody asked there for a retry, or ended it. */
export const wakeSignal = defineSignal(SIGNALS.wake);
