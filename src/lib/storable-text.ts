/** Text of somebody else's that goes into the database. */

/** What PostgreSQL does not keep, NUL and half a surrogate pair, becomes U+FFFD. */
export function storableText(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\ufffd');
}
