/** What goes into a payment's workflow and comes out, and the messages it takes. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OpenOutcome } from './messages';
import { SIGNALS, UPDATES } from './names';

export const openUpdate = defineUpdate<OpenOutcome>(UPDATES.open);

/** Looks at the provider now. @returns whether it answered */
export const verifyUpdate = defineUpdate<{ answered: boolean }>(UPDATES.verify);

/** The provider has called, or somebody asks to verify: look sooner than planned. */
export const paymentNewsSignal = defineSignal(SIGNALS.providerNews);
