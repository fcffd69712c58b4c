/**
 * The machine's clock, for times that others read: headers, signatures, deadlines of gRPC, ages of what
 * is shown. It can step back or forward, so a duration is never a difference of two readings;
 * `performance.now()` measures durations. Decisions about money use PostgreSQL's time
 * (src/db/database-time.ts).
 */
export function wallClockMs(): number {
  // eslint-disable-next-line no-restricted-properties
  return Date.now();
}
