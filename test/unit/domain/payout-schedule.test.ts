/** The times of a schedule: which it has, and which come next. */
import { isTimeOfCron, isTimeZone, parseCron } from '../../../src/domain/cron';
import {
  isTimeOfSchedule,
  nextTimes,
  type ScheduleTimes,
} from '../../../src/domain/payout-schedule';

const BASE: ScheduleTimes = {
  cron: null,
  timeZone: null,
  intervalSeconds: null,
  startAt: new Date('2026-11-25T09:00:00Z'),
  endAt: null,
};
const cron = (text: string, timeZone = 'UTC', more: Partial<ScheduleTimes> = {}) => ({
  ...BASE,
  cron: text,
  timeZone,
  ...more,
});
const next = (schedule: ScheduleTimes, after: string, wished = 3) =>
  nextTimes(schedule, new Date(after), wished).map((time) => time.toISOString().slice(0, 16));

test.each([
  ['0 9 1 * *', true],
  ['*/15 0,12 * * MON-FRI', true],
  ['5/20 * * * *', true],
  ['0 9 1 * MON', false],
  ['60 9 * * *', false],
  ['0 24 * * *', false],
  ['0 9 0 * *', false],
  ['0 9 * 13 *', false],
  ['0 9 * * 7', false],
  ['9-5 * * * *', false],
  ['0  9 * * *', false],
  ['0 9 * *', false],
  ['@daily', false],
  ['0 9 * * * *', false],
])('the expression %p is read: %p', (text, isRead) => {
  expect(parseCron(text) !== null).toBe(isRead);
});

test('a time is one of the expression by the wall clock of the zone, to the second', () => {
  const daily = parseCron('30 9 * * *')!;
  const at = (text: string) => isTimeOfCron(daily, 'Europe/Berlin', new Date(text));
  expect(at('2026-11-25T08:30:00Z')).toBe(true);
  expect(at('2026-07-25T07:30:00Z')).toBe(true);
  expect(at('2026-07-25T08:30:00Z')).toBe(false);
  expect(at('2026-11-25T08:30:01Z')).toBe(false);
  expect(
    isTimeOfCron(parseCron('15 14 * * *')!, 'Asia/Kathmandu', new Date('2026-11-25T08:30Z')),
  ).toBe(true);
});

test('the next times of an expression', () => {
  expect(next(cron('0 9 1 * *'), '2026-11-25T09:00:00Z')).toEqual([
    '2026-12-01T09:00',
    '2027-01-01T09:00',
    '2027-02-01T09:00',
  ]);
  expect(next(cron('30,0 8 * * MON'), '2026-11-25T09:00:00Z')).toEqual([
    '2026-11-30T08:00',
    '2026-11-30T08:30',
    '2026-12-07T08:00',
  ]);
  expect(next(cron('0 0 29 2 *'), '2026-11-25T09:00:00Z')).toEqual([
    '2028-02-29T00:00',
    '2032-02-29T00:00',
  ]);
  expect(next(cron('0 0 30 2 *'), '2026-11-25T09:00:00Z')).toEqual([]);
});

test('a day of the zone that is another one in UTC', () => {
  expect(next(cron('0 3 1 * *', 'Pacific/Auckland'), '2026-11-25T09:00:00Z', 2)).toEqual([
    '2026-11-30T14:00',
    '2026-12-31T14:00',
  ]);
});

test('a time that the change to summer time leaves out is left out, and one that is repeated comes once', () => {
  const spring = cron('30 2 * * *', 'Europe/Berlin');
  expect(next(spring, '2027-03-27T00:00:00Z')).toEqual([
    '2027-03-27T01:30',
    '2027-03-29T00:30',
    '2027-03-30T00:30',
  ]);
  const autumn = next(spring, '2027-10-30T12:00:00Z', 2);
  expect(autumn[1]).toBe('2027-11-01T01:30');
  expect(['2027-10-31T00:30', '2027-10-31T01:30']).toContain(autumn[0]);
});

test.each([
  'UTC',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Asia/Calcutta',
  'Europe/Kyiv',
  'America/Nuuk',
  'America/Argentina/Buenos_Aires',
  'America/Port-au-Prince',
  'Australia/ACT',
  'Etc/GMT+5',
  'US/Eastern',
  'EST5EDT',
  'GB-Eire',
  'Cuba',
])('%s is a time zone', (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each([
  ['an offset', '+05:30'],
  ['a name in small letters', 'asia/kolkata'],
  ['a listed name in other letters', 'America/New_york'],
  ['a place that does not exist', 'Europe/Nowhere'],
  ['an abbreviation that no database has', 'CEST'],
  ['nothing', ''],
])('%s is no time zone: %s', (_what, name) => {
  expect(isTimeZone(name)).toBe(false);
});

test('an interval is counted from the start, and nothing comes before the start or after the end', () => {
  const every = { ...BASE, intervalSeconds: 3_600, endAt: new Date('2026-11-25T12:00:00Z') };
  expect(next(every, '2026-11-25T09:00:00Z')).toEqual([
    '2026-11-25T10:00',
    '2026-11-25T11:00',
    '2026-11-25T12:00',
  ]);
  expect(next(every, '2026-11-20T00:00:00Z', 2)).toEqual(['2026-11-25T09:00', '2026-11-25T10:00']);
  expect(next(every, '2026-11-25T12:00:00Z')).toEqual([]);
  const late = cron('0 9 * * *', 'UTC', { startAt: new Date('2027-01-05T09:00:00Z') });
  expect(next(late, '2026-11-25T09:00:00Z', 2)).toEqual(['2027-01-05T09:00', '2027-01-06T09:00']);
});

test('each next time is a time of the schedule', () => {
  const schedules = [
    cron('*/7 1-3 * * *', 'America/New_York'),
    cron('59 23 31 * *', 'Asia/Kolkata'),
    { ...BASE, intervalSeconds: 86_400 },
  ];
  for (const schedule of schedules) {
    const times = nextTimes(schedule, new Date('2027-03-13T00:00:00Z'), 50);
    expect(times).toHaveLength(50);
    for (const time of times) expect(isTimeOfSchedule(schedule, time)).toBe(true);
  }
});
