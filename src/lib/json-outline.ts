/** The shape of a JSON text, known before a recursive parser or writer is given it. */

/** A payout is two levels deep. Parsers and writers are recursive, so the depth must be limited. */
export const JSON_DEPTH_MAX = 32;

/** Depth of brackets and number of colons outside strings; exact for any text that then parses. */
export function outlineJson(text: string): { depth: number; members: number } {
  let open = 0;
  let depth = 0;
  let members = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ':') members++;
    else if (character === '{' || character === '[') depth = Math.max(depth, ++open);
    else if (character === '}' || character === ']') open--;
  }
  return { depth, members };
}
