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
  if (intervalSeconds === null) return `${cron ?? ''} in ${timeZone ?? 'UTC'}`;
  const units = Object.entries(UNIT_SECONDS).reverse();
  const [unit, seconds] = units.find(([, one]) => intervalSeconds % one === 0) ?? ['seconds', 1];
  return `Every ${(intervalSeconds / seconds).toLocaleString('en')} ${unit}`;
}

export function countText(payouts: number): string {
  return payouts === 1 ? '1 payout' : `${payouts} payouts`;
}
