/**
 * What a form did, for the page that it leads to. The address has the time, so that a page that is opened or
 * reloaded later shows only what is true then.
 */
import { wallClockMs } from '../../platform/lib/wall-clock';

const SHOWN_MS = 60_000;

/** A query such as `started=1764267268000`. @param at before the change, when the page compares it with its result */
export function justNow(name: string, at = wallClockMs()): string {
  return `${name}=${at}`;
}

/** The time at which the form was sent; null when that was more than a minute ago. */
export function justNowAt(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name) ?? '';
  if (!/^\d{1,15}$/.test(text)) return null;
  const at = Number.parseInt(text, 10);
  const ageMs = wallClockMs() - at;
  return ageMs >= 0 && ageMs <= SHOWN_MS ? new Date(at) : null;
}

export function wasJustNow(query: URLSearchParams, name: string): boolean {
  return justNowAt(query, name) !== null;
}
