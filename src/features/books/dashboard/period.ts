/** The days of a form, in the time zone of the account. */
import { nextDay, startOfDay } from '../../../platform/lib/local-time';
import { textOf } from '../../../kit/pages/lists';

export interface FormPeriod {
  /** ISO 8601, inclusive; undefined if not given. */
  createdFrom?: string;
  createdTo?: string;
  errors: Record<string, string>;
}

const DAY_MS = 86_400_000;

/** @param daysMax the days that the period may have at most */
export function periodOf(values: URLSearchParams, zone: string, daysMax = Infinity): FormPeriod {
  const errors: Record<string, string> = {};
  const day = (name: 'from' | 'to') => {
    const text = textOf(values, name);
    const start = text === undefined ? undefined : startOfDay(text, zone);
    if (start === null) errors[name] = 'Enter a day, such as 2026-11-25.';
    return start ?? undefined;
  };
  const [from, to] = [day('from'), day('to')];
  if (from !== undefined && to !== undefined) {
    if (to < from) errors['to'] = 'Enter a day that is not before the first one.';
    if (to.getTime() - from.getTime() > (daysMax - 1) * DAY_MS) {
      errors['to'] = `Enter a day at most ${daysMax - 1} days after the first one.`;
    }
  }
  return {
    ...(from === undefined ? {} : { createdFrom: from.toISOString() }),
    ...(to === undefined ? {} : { createdTo: lastMoment(to, zone) }),
    errors,
  };
}

function lastMoment(day: Date, zone: string): string {
  const end = new Date(nextDay(day, zone).getTime() - 1).toISOString();
  return end.replace('Z', '999Z');
}
