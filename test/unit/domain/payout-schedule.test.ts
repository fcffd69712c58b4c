/** The times of a schedule: which it has, and which come next. */
import { cronOf, cronText } from '../../../src/features/payout-schedules/pages/schedule-times';
import { isTimeZone, parseCron } from '../../../src/domain/cron';
import {
  firstRun,
  nextTimes,
  rowsAMinute,
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
  ['0 9 L * *', true],
  ['0 9 L,15 * *', false],
  ['0 9 L * MON', false],
  ['L 9 1 * *', false],
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

test('the last day of each month, and of a zone that is ahead of UTC', () => {
  expect(next(cron('0 9 L * *'), '2027-12-31T09:00:00Z')).toEqual([
    '2028-01-31T09:00',
    '2028-02-29T09:00',
    '2028-03-31T09:00',
  ]);
  expect(next(cron('0 3 L 2 *', 'Pacific/Auckland'), '2027-01-01T00:00:00Z', 1)).toEqual([
    '2027-02-27T14:00',
  ]);
});

test('the times that a person chooses are an expression, and read as they were chosen', () => {
  const chosen = (values: Record<string, string>) => cronOf(new URLSearchParams(values));
  const time = '08:05';
  const cases: [Record<string, string>, string, string][] = [
    [{ repeats: 'day', time }, '5 8 * * *', 'Every day at 08:05'],
    [{ repeats: 'week', weekday: '1', time }, '5 8 * * 1', 'Every Monday at 08:05'],
    [{ repeats: 'month', day: '31', time }, '5 8 31 * *', 'Every month on day 31 at 08:05'],
    [{ repeats: 'month_end', time }, '5 8 L * *', 'The last day of every month at 08:05'],
  ];
  for (const [values, expression, text] of cases) {
    expect(chosen(values)).toBe(expression);
    expect(parseCron(expression)).not.toBeNull();
    expect(cronText(expression)).toBe(text);
  }
  expect(chosen({ repeats: 'cron', time })).toBeNull();
  expect(cronText('30 8 * * MON-FRI')).toBe('30 8 * * MON-FRI');
});

test('a day of the zone that is another one in UTC', () => {
  expect(next(cron('0 3 1 * *', 'Pacific/Auckland'), '2026-11-25T09:00:00Z', 2)).toEqual([
    '2026-11-30T14:00',
    '2026-12-31T14:00',
  ]);
});

describe('around the clock changes of 2027', () => {
  test.each([
    [
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      '2027-03-28T01:00',
      '2027-10-30T12:00Z',
      '2027-10-31T00:30',
    ],
    [
      'Europe/London',
      '2027-03-27T12:00Z',
      '2027-03-28T01:30',
      '2027-10-30T12:00Z',
      '2027-10-31T02:30',
    ],
    [
      'America/New_York',
      '2027-03-13T12:00Z',
      '2027-03-14T07:00',
      '2027-11-06T12:00Z',
      '2027-11-07T07:30',
    ],
    [
      'Pacific/Auckland',
      '2027-09-25T06:00Z',
      '2027-09-25T14:00',
      '2027-04-03T06:00Z',
      '2027-04-03T13:30',
    ],
  ])('02:30 in %s comes once a day, and is not left out', (zone, spring, moved, autumn, once) => {
    const daily = cron('30 2 * * *', zone);
    expect(next(daily, spring, 1)).toEqual([moved]);
    expect(next(daily, autumn, 1)).toEqual([once]);
  });

  test('a time that is repeated comes the first time that it is shown', () => {
    expect(next(cron('30 1 * * *', 'America/New_York'), '2027-11-06T12:00Z', 2)).toEqual([
      '2027-11-07T05:30',
      '2027-11-08T06:30',
    ]);
    expect(next(cron('0,30 1-2 * * *', 'America/New_York'), '2027-11-07T00:00Z', 4)).toEqual([
      '2027-11-07T05:00',
      '2027-11-07T05:30',
      '2027-11-07T07:00',
      '2027-11-07T07:30',
    ]);
  });

  test('several times that are left out come once, when the clock has moved', () => {
    expect(next(cron('*/20 2-3 * * *', 'Europe/Berlin'), '2027-03-28T00:00Z', 4)).toEqual([
      '2027-03-28T01:00',
      '2027-03-28T01:20',
      '2027-03-28T01:40',
      '2027-03-29T00:00',
    ]);
  });

  const ZONES = [
    'America/New_York',
    'America/Sao_Paulo',
    'America/St_Johns',
    'Europe/London',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Pacific/Auckland',
  ];
  /** The days before, of which 35 hours reach into the day after. */
  const CHANGES = [
    '2027-03-13',
    '2027-03-27',
    '2027-04-03',
    '2027-09-25',
    '2027-10-02',
    '2027-10-30',
    '2027-11-06',
  ];
  const EVERY_HALF_HOUR = '*/30 * * * *';
  const EXPRESSIONS = ['30 2 * * *', '0 0 * * *', '15,45 1-3 * * *', EVERY_HALF_HOUR, '5 2 28 * *'];
  const SCHEDULES = ZONES.flatMap((zone) => EXPRESSIONS.map((text) => [zone, text] as const));

  test('35 schedules run at the times of the dry run, each shown by the clock once', () => {
    expect(SCHEDULES).toHaveLength(35);
    for (const [zone, text] of SCHEDULES) {
      const schedule = cron(text, zone);
      const format = { dateStyle: 'short', timeStyle: 'medium', timeZone: zone } as const;
      const clockOf = new Intl.DateTimeFormat('en-GB', format);
      for (const day of CHANGES) {
        const around = `${day}T00:00Z`;
        const shown = nextTimes(schedule, new Date(around), text === EVERY_HALF_HOUR ? 70 : 10);
        let at: Date | null = new Date(around);
        const run = shown.map(() => (at = firstRun(schedule, at!)));
        expect([zone, text, run]).toEqual([zone, text, shown]);
        const clock = shown.map((time) => clockOf.format(time));
        expect(new Set(clock).size).toBe(clock.length);
      }
    }
  });
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

test('the rows of a minute are counted over an hour with runs', () => {
  expect(rowsAMinute({ cron: null, intervalSeconds: 5 }, 100)).toBe(1_200);
  expect(rowsAMinute({ cron: null, intervalSeconds: 86_400 }, 288)).toBe(0.2);
  expect(rowsAMinute({ cron: '*/5 9 1 * *', intervalSeconds: null }, 50)).toBe(10);
});
