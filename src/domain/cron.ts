/**
 * Cron expressions of five fields, as Temporal's schedules read them: every field must match. To leave no
 * doubt, only one of day of month and day of week may be restricted.
 */
interface Field {
  least: number;
  most: number;
  /** Names for the numbers from `least` on. */
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
  const sets = FIELDS.map((field, index) => parseField(field, parts[index] ?? ''));
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

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Whether the wall clock of the time zone shows a time of the expression. */
export function isTimeOfCron(cron: Cron, timeZone: string, time: Date): boolean {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    minute: 'numeric',
    hour: 'numeric',
    day: 'numeric',
    month: 'numeric',
    weekday: 'short',
    second: 'numeric',
  }).formatToParts(time);
  const shown = (type: string) => clock.find((part) => part.type === type)?.value ?? '';
  const values = ['minute', 'hour', 'day', 'month'].map((type) => countOf(shown(type)));
  const all = [...values, WEEKDAYS.indexOf(shown('weekday'))];
  return countOf(shown('second')) === 0 && cron.every((set, index) => set.has(all[index] ?? -1));
}

/** Whether it is the canonical name of a time zone, which Temporal's database has as well. */
export function isTimeZone(name: string): boolean {
  return name === 'UTC' || Intl.supportedValuesOf('timeZone').includes(name);
}
