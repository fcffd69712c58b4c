/**
 * One line that shows as it is stored. Without control characters, because ESC and U+009B steer a terminal;
 * without U+202E and the like, which reorder what follows; without line separators and what is invisible.
 * The joiners of scripts and emoji are allowed.
 */
export function isPrintable(text: string): boolean {
  return !/(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}
