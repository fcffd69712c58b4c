/** Replaces what PostgreSQL cannot store in external text, NUL and unpaired surrogates, with U+FFFD. */
export function storableText(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\ufffd');
}
