/**
 * Whether a text is one line that shows as it is stored. It has no control characters, because ESC and
 * U+009B steer a terminal; no U+202E and the like, which reorder what follows; no line separators, and
 * nothing invisible. The joiners of scripts and emoji are allowed.
 */
export function isPrintable(text: string): boolean {
  return !/(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

const STEERING = '(?![\\t\\n\\r])\\p{Cc}|[\\u202a-\\u202e\\u2066-\\u2069]';

/**
 * Whether a text of several lines, such as a description, may be shown to people: as above, but with line
 * breaks, tabs and the marks of scripts. Characters that reverse what follows are refused.
 */
export function isReadable(text: string): boolean {
  return !new RegExp(STEERING, 'u').test(text);
}

/** A text that others wrote, such as metadata or a provider's reason, for a terminal. */
export function readable(text: string): string {
  return text.replaceAll(new RegExp(STEERING, 'gu'), '\ufffd');
}
