/**
 * When a delivery is attempted (the specification, "Delivery and retries"). Each wait counts from
 * the end of the failed attempt before it: a receiver that answers after nine seconds has the
 * whole minute, and no attempt can overlap with the next.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits between attempts; one attempt more than there are waits. */
export type RetryScheduleMs = readonly number[];

export const RETRY_SCHEDULE_MS: RetryScheduleMs = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
];

/** 8: the first attempt and seven retries. */
export function attemptsOf(schedule: RetryScheduleMs): number {
  return schedule.length + 1;
}

/**
 * @param attempts how many attempts have been made, the failed one included
 * @returns the wait until the next attempt, or null after the last
 */
export function waitAfterMs(schedule: RetryScheduleMs, attempts: number): number | null {
  return schedule[attempts - 1] ?? null;
}
