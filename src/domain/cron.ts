/**
 * Cron expressions of five fields: every field must match. To leave no
 * doubt, only one of day of month and day of week may be restricted.
 */
interface Field {
  least: number;
  most: number;
  /** The names of the numbers, beginning with `least`. */
  names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12 },
  { least: 0, most: 6, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
];
const DAY_OF_MONTH = 2;
const DAY_OF_WEEK = 4;
/** `L` stands for the last day of each month. */
const LAST_DAY: ReadonlySet<number> = new Set([0]);
const PART = /^(\*|(\w+)(?:-(\w+))?)(?:\/([1-9][0-9]?))?$/;

const COUNTS = Array.from({ length: 100 }, (_, count) => count.toString());

/** @returns -1 for a text that is no number below 100 */
function countOf(text: string): number {
  return COUNTS.indexOf(text.replace(/^0(?=[0-9]$)/, ''));
}

/** The values of each field: minute, hour, day of month, month, day of week from Sunday. */
export type Cron = readonly ReadonlySet<number>[];

/** @returns null for a text that is no expression of five fields */
export function parseCron(text: string): Cron | null {
  const parts = text.split(' ');
  if (parts.length !== FIELDS.length) return null;
  if (parts[DAY_OF_MONTH] !== '*' && parts[DAY_OF_WEEK] !== '*') return null;
  const sets = FIELDS.map((field, index) =>
    index === DAY_OF_MONTH && parts[index] === 'L'
      ? LAST_DAY
      : parseField(field, parts[index] ?? ''),
  );
  return sets.every((set) => set !== null) ? sets : null;
}

function parseField(field: Field, text: string): ReadonlySet<number> | null {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const found = PART.exec(part);
    if (found === null) return null;
    const [, range, first, last, step] = found;
    const isAll = range === '*';
    const from = isAll ? field.least : valueOf(field, first);
    // Without an end, a step goes on to the last value.
    const otherwise = isAll || step !== undefined ? field.most : from;
    const to = last === undefined ? otherwise : valueOf(field, last);
    if (from === null || to === null || from > to) return null;
    for (let value = from; value <= to; value += countOf(step ?? '1')) values.add(value);
  }
  return values;
}

function valueOf({ least, most, names }: Field, text = ''): number | null {
  const named = names?.indexOf(text.toUpperCase()) ?? -1;
  const value = named >= 0 ? named + least : countOf(text);
  return value >= least && value <= most ? value : null;
}

/** How many times the expression has in an hour in which it has any. */
export function timesOfCronInAnHour(cron: Cron): number {
  return cron[0]?.size ?? 0;
}

function isDayOfCron(cron: Cron, shown: Date): boolean {
  const tomorrow = new Date(shown.getTime() + DAY_MS).getUTCDate();
  const isLast = cron[DAY_OF_MONTH] === LAST_DAY && tomorrow === 1;
  const values = [isLast ? 0 : shown.getUTCDate(), shown.getUTCMonth() + 1, shown.getUTCDay()];
  return values.every((value, index) => cron[DAY_OF_MONTH + index]?.has(value) === true);
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The search for the next day ends after this: a 29th of February is at most eight years away. */
const DAYS_AHEAD_MAX = 8 * 366;

/**
 * The times of the expression after a moment, earliest first. A time that a clock change repeats comes once, the
 * first time it is shown. Those that it leaves out come together, when the clock has moved: a payment of the
 * month is not left out because its night has an hour less.
 */
export function* timesOfCron(cron: Cron, timeZone: string, after: Date): Generator<Date> {
  const clock = wallClock(timeZone);
  const sorted = (field: number) => [...(cron[field] ?? [])].sort((one, other) => one - other);
  const [minutes, hours] = [sorted(0), sorted(1)];
  const first = Math.floor(clock(after).getTime() / DAY_MS) * DAY_MS;
  let last = after;
  for (let day = 0; day <= DAYS_AHEAD_MAX; day += 1) {
    const midnight = first + day * DAY_MS;
    if (!isDayOfCron(cron, new Date(midnight))) continue;
    const whenShown = clockOfDay(clock, midnight);
    for (const hour of hours) {
      for (const minute of minutes) {
        const time = whenShown(midnight + (hour * 60 + minute) * MINUTE_MS);
        if (time <= last) continue;
        last = time;
        yield time;
      }
    }
  }
}

/** What the wall clock of the time zone shows, as a time of UTC. */
function wallClock(timeZone: string): (time: Date) => Date {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value;
    const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(name ?? '') ?? [];
    const offsetMs = (countOf(hours) * 60 + countOf(minutes)) * MINUTE_MS;
    return new Date(time.getTime() + (sign === '-' ? -offsetMs : offsetMs));
  };
}

/** The offset in Intl's `longOffset`; for UTC it is `GMT` without an offset. */
const OFFSET = /^GMT([+-])(\d\d):(\d\d)$/;

/** @returns the first time at which the clock shows a time of this day, or is past it */
function clockOfDay(clock: (time: Date) => Date, midnight: number): (shown: number) => Date {
  const offsetAt = (time: number) => clock(new Date(time)).getTime() - time;
  // No zone is further from UTC than a day, so a change of this day is between the two.
  const [earlier, later] = [midnight - DAY_MS, midnight + 2 * DAY_MS];
  const [before, afterwards] = [offsetAt(earlier), offsetAt(later)];
  if (before === afterwards) return (shown) => new Date(shown - before);
  const change = firstWhere((time) => offsetAt(time) === afterwards, earlier, later);
  return (shown) => {
    const time = shown - before;
    return new Date(time < change ? time : Math.max(change, shown - afterwards));
  };
}

/** @returns the first minute at which `isSo` holds, between one at which it does not and one at which it does */
function firstWhere(isSo: (time: number) => boolean, from: number, to: number): number {
  let [not, so] = [from, to];
  while (so - not > MINUTE_MS) {
    const middle = not + Math.floor((so - not) / 2 / MINUTE_MS) * MINUTE_MS;
    if (isSo(middle)) so = middle;
    else not = middle;
  }
  return so;
}

/**
 * Whether it is a name of the IANA database. Intl also accepts offsets and names in other letters; and it
 * lists one name of each zone, such as Asia/Calcutta and not Asia/Kolkata.
 */
export function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  const letters = name.toLowerCase();
  const listed = Intl.supportedValuesOf('timeZone').find((one) => one.toLowerCase() === letters);
  return listed === undefined ? isKnownToIntl(name) : listed === name;
}

/** The form of a name: `America/Port_of_Spain`, or capitals and digits as in `EST5EDT`. */
const ZONE_NAME =
  /^(?:(?:[A-Z][a-z]+|US)(?:\/(?:[A-Z][a-z][A-Za-z_-]*|UTC|UCT|GMT(?:[+-]?\d{1,2})?|ACT|LHI|NSW))+|[A-Z][a-z]+|[A-Z][A-Z\d+-]{1,6}|GB-Eire)$/;

function isKnownToIntl(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).format() !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
