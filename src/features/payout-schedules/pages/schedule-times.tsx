/** The times of a schedule in words and in the time zone of the account, and what a run pays. */
import type { PayoutSchedule, ScheduleTimes } from '../../../domain/payout-schedule';
import { localTime } from '../../../platform/lib/local-time';
import { Money } from '../../../kit/pages/components';

export function LocalTime({ at, zone }: { at: Date; zone: string }) {
  const { time, offset } = localTime(at, zone);
  const iso = at.toISOString();
  return (
    <time datetime={iso} title={iso}>
      {time} <span class="muted">{offset}</span>
    </time>
  );
}

interface NextRunsProps {
  times: readonly Date[];
  zone: string;
}

export function NextRuns({ times, zone }: NextRunsProps) {
  return (
    <ul>
      {times.map((at) => (
        <li>
          <LocalTime at={at} zone={zone} />
        </li>
      ))}
    </ul>
  );
}

/** What one run pays in each currency. */
export function RunTotals({ totals }: Pick<PayoutSchedule, 'totals'>) {
  return (
    <>
      {totals.map(({ currency, amount }) => (
        <div>
          <Money amount={amount} currency={currency} />
        </div>
      ))}
    </>
  );
}

/** The form sends the name of a unit. */
export const UNIT_SECONDS = { minutes: 60, hours: 3_600, days: 86_400 } as const;

type TimesInWords = Pick<ScheduleTimes, 'cron' | 'timeZone' | 'intervalSeconds'>;

export function timesText({ cron, timeZone, intervalSeconds }: TimesInWords): string {
  if (intervalSeconds === null) return `${cronText(cron ?? '')}, ${timeZone ?? 'UTC'}`;
  const units = Object.entries(UNIT_SECONDS).reverse();
  const [unit, seconds] = units.find(([, one]) => intervalSeconds % one === 0) ?? ['seconds', 1];
  return `Every ${(intervalSeconds / seconds).toLocaleString('en')} ${unit}`;
}

/** The days of the week as cron numbers them. */
export const WEEKDAYS = [
  ...['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
] as const;

const SIMPLE_CRON = /^(\d{1,2}) (\d{1,2}) (\*|L|\d{1,2}) \* (\*|\d)$/;

/** The words of an expression that the form can make; any other one stays as it is. */
export function cronText(cron: string): string {
  const [, minute, hour, day, weekday] = SIMPLE_CRON.exec(cron) ?? [];
  if (minute === undefined || hour === undefined) return cron;
  const at = `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (day === 'L') return `The last day of every month ${at}`;
  if (day !== '*') return `Every month on day ${day ?? ''} ${at}`;
  if (weekday === '*') return `Every day ${at}`;
  return `Every ${WEEKDAYS[Number(weekday)] ?? ''} ${at}`;
}

/** What the form of a schedule can repeat, beside an interval or an expression. */
export const REPEATS = [
  ['day', 'Every day'],
  ['week', 'Every week'],
  ['month', 'Every month'],
  ['month_end', 'On the last day of every month'],
  ['interval', 'At an interval'],
  ['cron', 'By a cron expression'],
] as const;

/** The expression of the fields; null if the form has an interval or an expression of its own. */
export function cronOf(form: URLSearchParams): string | null {
  const [hour = '', minute = ''] = (form.get('time') ?? '').split(':');
  const [hours, minutes] = [hour, minute].map((text) => text.replace(/^0(?=\d)/, ''));
  const days = {
    day: '* * *',
    week: `* * ${form.get('weekday') ?? ''}`,
    month: `${form.get('day') ?? ''} * *`,
    month_end: 'L * *',
  };
  const chosen = Object.entries(days).find(([name]) => name === form.get('repeats'));
  return chosen === undefined ? null : `${minutes ?? ''} ${hours ?? ''} ${chosen[1]}`;
}

export function countText(payouts: number): string {
  return payouts === 1 ? '1 payout' : `${payouts} payouts`;
}
