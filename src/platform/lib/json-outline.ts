/** The shape of a JSON text, known before a recursive parser or writer is given it. */

/** A payout is two levels deep. Parsers and writers are recursive, so the depth must be limited. */
export const JSON_DEPTH_MAX = 32;

interface JsonOutline {
  /** The depth of nested brackets. */
  depth: number;
  /** The number of colons outside strings. */
  members: number;
  /** The number of commas and opening brackets outside strings: about as many values as the text has. */
  values: number;
}

/** Counts the parts of a JSON text without parsing it. The counts are exact if the text is valid JSON. */
export function outlineJson(text: string): JsonOutline {
  let open = 0;
  let depth = 0;
  let members = 0;
  let values = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ':') members++;
    else if (character === ',') values++;
    else if (character === '{' || character === '[') {
      values++;
      depth = Math.max(depth, ++open);
    } else if (character === '}' || character === ']') open--;
  }
  return { depth, members, values };
}
