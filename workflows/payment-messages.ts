/** What goes into a payment's workflow and comes out, and the messages it takes. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OpenOutcome, VerifyOutcome } from './messages';
import { PAYMENT_DECISIONS } from '../src/domain/payment';
import { SIGNALS, UPDATES } from './names';

export const openUpdate = defineUpdate<OpenOutcome>(UPDATES.open);

/** Asks the provider now. */
export const verifyUpdate = defineUpdate<VerifyOutcome>(UPDATES.verify);

/** The provider has called, or somebody asks to verify: look sooner than planned. */
export const providerUpdateSignal = defineSignal(SIGNALS.providerUpdate);

/** Operators type the input by hand, so it is whatever they typed. */
export const decisionSignals = PAYMENT_DECISIONS.map((kind) => ({
  kind,
  signal: defineSignal<unknown[]>(SIGNALS[kind]),
}));
