/**
 * Times as query parameters and command options carry them (decisions/api#lists): ISO 8601 with a zone,
 * or a bare date, which means the whole UTC day. They stay text: a Date would cut the microseconds
 * that PostgreSQL has.
 */
const DATE_PATTERN = '[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])';
const TIME_PATTERN =
  'T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9])';
/** The texts that parseIsoTime reads, and days that a month does not have. */
export const ISO_TIME_PATTERN = `^${DATE_PATTERN}(${TIME_PATTERN})?$`;
const ISO_TIME = new RegExp(ISO_TIME_PATTERN);
const DATE_LENGTH = 'YYYY-MM-DD'.length;

/** The fraction below a microsecond is cut off, because PostgreSQL would round it. */
const BELOW_MICROSECONDS = /(\.[0-9]{6})[0-9]+/;

/** PostgreSQL and Date both read `+05:30`; Date does not read `+0530`. */
const ZONE_WITHOUT_COLON = /([+-][0-9]{2})([0-9]{2})$/;

/**
 * Answers show times in milliseconds. An upper bound that was copied from an answer must include the
 * object, so it is filled up to the microsecond.
 */
const MILLISECONDS = /\.[0-9]{3}(?=Z|[+-])/;

/** @returns null when the text is not a valid time */
export function parseIsoTime(text: string, bound: 'from' | 'to'): string | null {
  if (!ISO_TIME.test(text)) return null;
  const date = text.slice(0, DATE_LENGTH);
  // A "+" that was not percent-encoded arrives as a space.
  const time = text
    .slice(DATE_LENGTH)
    .replace(' ', '+')
    .replace(BELOW_MICROSECONDS, '$1')
    .replace(ZONE_WITHOUT_COLON, '$1:$2');
  if (!isInCalendar(date)) return null;
  if (time === '') return `${date}T${bound === 'from' ? '00:00:00' : '23:59:59.999999'}Z`;
  return date + (bound === 'from' ? time : time.replace(MILLISECONDS, '$&999'));
}

/** Date accepts 30 February and moves it to March, so the day is compared. */
function isInCalendar(date: string): boolean {
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date);
}
