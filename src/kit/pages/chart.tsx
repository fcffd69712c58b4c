/** Charts that the server draws. A table or a sentence beside them says the same in words. */
import type { ComponentChildren } from 'preact';

interface BarsProps {
  label: string;
  /** What the highest bar is, and what the first and the last one are of. */
  axes: { highest: ComponentChildren; first: string; last: string };
  /** The bars, each with its parts from the bottom as shares of the highest bar. */
  bars: readonly {
    title: string;
    parts: readonly { tone: 'good' | 'bad' | 'busy'; share: number }[];
  }[];
}

const BAR = 10;
const GAP = 3;
const HEIGHT = 48;

export function Bars({ label, axes, bars }: BarsProps) {
  const width = bars.length * (BAR + GAP) - GAP;
  return (
    <div class="bar-chart">
      <small class="muted">{axes.highest}</small>
      <svg
        class="bars"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={label}
        preserveAspectRatio="none"
      >
        {bars.map(({ title, parts }, index) => {
          const heights = parts.map(({ share }) => Math.round(share * (HEIGHT - 2)));
          const x = index * (BAR + GAP);
          return (
            <g>
              <title>{title}</title>
              <rect class="base" x={x} y={HEIGHT - 1} width={BAR} height={1} />
              {parts.map(({ tone }, part) => {
                const height = heights[part] ?? 0;
                const below = heights.slice(0, part).reduce((sum, one) => sum + one, 0);
                const y = HEIGHT - 1 - below - height;
                return <rect data-tone={tone} x={x} y={y} width={BAR} height={height} />;
              })}
            </g>
          );
        })}
      </svg>
      <small class="muted">
        <span>{axes.first}</span>
        <span>{axes.last}</span>
      </small>
    </div>
  );
}
