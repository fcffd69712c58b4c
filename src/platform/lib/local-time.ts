/** Times in the time zone of an account. */
import { DateTime, IANAZone } from 'luxon';

/** @param name of the IANA time zone database, such as `Europe/Berlin` */
export function isTimeZone(name: string): boolean {
  return IANAZone.isValidZone(name);
}

/** `2026-11-25` */
export function localDay(at: Date, zone: string): string {
  return DateTime.fromJSDate(at, { zone }).toFormat('yyyy-MM-dd');
}

/** `2026-11-25 14:05:09`, as spreadsheets read it, with the offset `UTC+01:00` apart. */
export function localTime(at: Date, zone: string): { time: string; offset: string } {
  const local = DateTime.fromJSDate(at, { zone });
  return { time: local.toFormat('yyyy-MM-dd HH:mm:ss'), offset: `UTC${local.toFormat('ZZ')}` };
}

/** The first moment of a day such as `2026-11-25`; null for a text that is no day. */
export function startOfDay(day: string, zone: string): Date | null {
  const local = DateTime.fromFormat(day, 'yyyy-MM-dd', { zone });
  return local.isValid ? local.startOf('day').toJSDate() : null;
}

/** The moment of `2026-11-25T14:05`, as a browser sends a date and time; null for any other text. */
export function minuteOf(text: string, zone: string): Date | null {
  const local = DateTime.fromFormat(text, "yyyy-MM-dd'T'HH:mm", { zone });
  return local.isValid ? local.toJSDate() : null;
}

/** The first moment of the next day in this zone, which can be 23 or 25 hours later. */
export function nextDay(start: Date, zone: string): Date {
  return DateTime.fromJSDate(start, { zone }).plus({ days: 1 }).startOf('day').toJSDate();
}
