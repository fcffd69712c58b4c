/**
 * Whether a text is one line that shows as it is stored. It has no control characters, because ESC and
 * U+009B steer a terminal; no U+202E and the like, which reorder what follows; no line separators, and
 * nothing invisible. The joiners of scripts and emoji are allowed.
 */
export function isPrintable(text: string): boolean {
  return !/(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}
