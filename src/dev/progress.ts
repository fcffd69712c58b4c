/**
 * Progress for the person at the terminal: one line at a time, and one every ten seconds while
 * something slow runs.
 */

/** Takes one line of progress: the terminal of `npm start`, or nothing in a test. */
export type LogLine = (line: string) => void;

const REPORT_INTERVAL_MS = 10_000;

/** @returns a function that ends the reports */
export function reportProgress(log: LogLine, lineAfter: (seconds: number) => string): () => void {
  const startedAt = performance.now();
  const ticker = setInterval(() => {
    log(lineAfter(Math.round((performance.now() - startedAt) / 1000)));
  }, REPORT_INTERVAL_MS);
  return () => {
    clearInterval(ticker);
  };
}
