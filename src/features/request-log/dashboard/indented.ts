import { JSON_DEPTH_MAX } from '../../../platform/lib/json-outline';

/** JSON with a line for each member, token by token: numbers keep every digit, and a text that was cut off is shown too. */
const TOKEN = /"(?:[^"\\]|\\[^])*"?|[[\]{},:]|[^\s"[\]{},:]+/g;

/**
 * Brackets that are nested deeper than the API reads are not indented any further: 4 KiB of them would
 * become megabytes, and the page would hold up all others.
 */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  const written: string[] = [];
  let depth = 0;
  /** What the token before asks for, unless the next one closes an empty bracket. */
  let before: 'nothing' | 'line' | 'opening' = 'nothing';
  const line = () => `\n${'  '.repeat(Math.min(Math.max(depth, 0), JSON_DEPTH_MAX))}`;
  for (const [token] of text.matchAll(TOKEN)) {
    const isOpening = token === '{' || token === '[';
    if (token === '}' || token === ']') {
      depth -= 1;
      if (before !== 'opening') written.push(line());
    } else if (before !== 'nothing') {
      written.push(line());
    }
    if (isOpening) depth += 1;
    written.push(token === ':' ? ': ' : token);
    before = isOpening ? 'opening' : token === ',' ? 'line' : 'nothing';
  }
  return written.join('');
}
