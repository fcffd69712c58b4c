/** Lucide's icons as SVG in the page. */
import { readFileSync } from 'node:fs';

const drawings = new Map<string, string>();

/** @param name of a file in lucide-static/icons; never of what somebody sent */
export function Icon({ name }: { name: string }) {
  return <span class="icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: draw(name) }} />;
}

function draw(name: string): string {
  const known = drawings.get(name);
  if (known !== undefined) return known;
  const svg = readFileSync(require.resolve(`lucide-static/icons/${name}.svg`), 'utf8')
    .replace(/<!--.*?-->\s*/s, '')
    .replace(/\s+/g, ' ');
  drawings.set(name, svg);
  return svg;
}
