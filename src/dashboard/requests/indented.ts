/** JSON with a line for each member, token by token: numbers keep every digit, and a text that was cut off is shown too. */
const TOKEN = /"(?:[^"\\]|\\[^])*"?|[[\]{},:]|[^\s"[\]{},:]+/g;

export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  let depth = 0;
  let written = '';
  const line = () => `\n${'  '.repeat(Math.max(depth, 0))}`;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth += 1;
      written += token + line();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      const before = written.trimEnd();
      written = /[[{]$/.test(before) ? before + token : before + line() + token;
    } else {
      written += token === ',' ? token + line() : token === ':' ? ': ' : token;
    }
  }
  return written;
}
