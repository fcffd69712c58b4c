/** Durations as a person reads them. */
import { wallClockMs } from '../../platform/lib/wall-clock';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** In the two largest units: `3 h 12 min`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  if (first === -1) return '0 s';
  return UNITS.slice(first, first + 2)
    .map(([unit, length], index) => {
      const above = index === 0 ? undefined : UNITS[first]?.[1];
      const rest = above === undefined ? seconds : seconds % above;
      return `${Math.floor(rest / length)} ${unit}`;
    })
    .filter((part) => !part.startsWith('0 '))
    .join(' ');
}

export function sinceText(since: Date): string {
  return durationText(wallClockMs() - since.getTime());
}
