/** What the sandbox's pages share: HTML in which only templates are markup, and the style sheet. */
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

/** Served by each page itself: no CDN, nothing inline. */
export const PAGE_STYLE = `
:root { color-scheme: light; --line: #d7dbe3; --ink: #1b2330; --soft: #5b6577; --accent: #1f5fd0; }
* { box-sizing: border-box; }
body { margin: 0; background: #f3f5f9; color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
.banner { margin: 0; background: #7a4b00; color: #fff; padding: .6rem 1rem; text-align: center; font-weight: 600; }
main { max-width: 34rem; margin: 1.5rem auto; padding: 0 1rem; }
.card { background: #fff; border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin-bottom: 1rem; }
h1 { font-size: 1rem; color: var(--soft); margin: 0; font-weight: 600; }
h2 { font-size: 1rem; margin: 0 0 .5rem; }
.amount { font-size: 2rem; font-weight: 700; margin: .25rem 0; overflow-wrap: anywhere; }
.status { padding: .6rem .8rem; border-radius: .5rem; background: #e8eefb; border-left: .3rem solid var(--accent); }
.status[data-status="paid"] { background: #e5f5ea; border-color: #1b7f3b; }
.status[data-status="failed"], .status[data-status="expired"], .status[data-status="cancelled"] { background: #fbe9e7; border-color: #b3261e; }
.status[data-status="on_hold"], .status[data-status="part"] { background: #fff3da; border-color: #a66a00; }
.qr { width: 12rem; margin: 0 auto .75rem; }
.qr svg { width: 100%; height: auto; display: block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; font-size: .9rem; }
fieldset { border: 0; padding: 0; margin: 0 0 1rem; }
legend { color: var(--soft); font-size: .875rem; padding: 0; margin-bottom: .4rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
.buttons form { margin: 0; }
button { font: inherit; padding: .5rem .9rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff; color: var(--ink); cursor: pointer; }
button:hover, button:focus-visible { border-color: var(--accent); }
button.main { background: var(--accent); border-color: var(--accent); color: #fff; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .5rem .3rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
main.wide { max-width: 60rem; }
.wide td { white-space: nowrap; }
.wide td code { font-size: .8rem; }
@media (max-width: 45rem) {
  .wide thead { display: none; }
  .wide tr { display: block; padding: .4rem 0; border-top: 1px solid var(--line); }
  .wide td { display: inline-block; border: 0; padding: .1rem .6rem .1rem 0; white-space: normal; }
}
.good { color: #1b7f3b; }
.bad { color: #b3261e; }
pre { background: #f3f5f9; border-radius: .5rem; padding: .8rem; overflow-x: auto; font-size: .85rem; }
.note { color: var(--soft); font-size: .875rem; }
`;
