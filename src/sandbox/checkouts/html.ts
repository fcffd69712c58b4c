/** HTML as text in which nothing but its own templates is markup. */
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export class Html {
  constructor(readonly text: string) {}
}

type Piece = Html | string | readonly Html[];

/** Every value is escaped unless it is Html itself. */
export function html(strings: TemplateStringsArray, ...values: Piece[]): Html {
  return new Html(
    strings.reduce((text, string, index) => text + show(values[index - 1] ?? '') + string),
  );
}

export const NOTHING = new Html('');

function show(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (typeof piece !== 'string') return piece.map(({ text }) => text).join('');
  return piece.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
