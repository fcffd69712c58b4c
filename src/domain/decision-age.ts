/**
 * A decision that Temporal delivers later than this has no effect: its operator was told that there was
 * no answer, and may have decided otherwise since.
 */
export const DECISION_VALID_MS = 5 * 60_000;
