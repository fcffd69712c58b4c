/** The messages that a payout's workflow takes. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CancelOutcome, ReserveOutcome } from './messages';
import { SIGNALS, UPDATES } from './names';

/** Operators type the input by hand, so it is whatever they typed. */
export const approveSignal = defineSignal<unknown[]>(SIGNALS.approve);
export const rejectSignal = defineSignal<unknown[]>(SIGNALS.reject);

/** The provider has called: look sooner than planned. */
export const providerUpdateSignal = defineSignal(SIGNALS.providerUpdate);

/** Waits for the outcome of the reservation, which the workflow makes anyhow. */
export const reserveUpdate = defineUpdate<ReserveOutcome>(UPDATES.reserve);

/** The merchant's cancel, by the request that asked. */
export const cancelUpdate = defineUpdate<CancelOutcome, [by: string]>(UPDATES.cancel);
