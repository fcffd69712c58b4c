/**
 * Colours of the guides' samples, in HTML without a script. It knows only what the guides have: strings,
 * comments, numbers, the names of JSON, variables and options of a shell, and keywords.
 */
import { escapeHtml } from './html';

/** A class of the style, and what belongs to it. The first that matches at a place wins. */
type Rule = readonly [name: 'comment' | 'name' | 'string' | 'value' | 'word', pattern: RegExp];

const DOUBLE = /"(?:\\[\s\S]|[^"\\])*"/;
const STRING = new RegExp(`${DOUBLE.source}|'(?:\\\\.|[^'\\\\\\n])*'`);
const NUMBER = /(?<![\w.$-])\d[\d_.]*\b/;

const words = (list: string): Rule => [
  'word',
  new RegExp(`(?<![\\w.$-])(?:${list.replaceAll(' ', '|')})(?![\\w-])`),
];

const SLASHES: Rule = ['comment', /(?<!:)\/\/.*|\/\*[\s\S]*?\*\//];
const HASH: Rule = ['comment', /(?<=^|\s)#.*/m];

const LANGUAGES: Readonly<Record<string, readonly Rule[]>> = {
  json: [
    ['name', new RegExp(`${DOUBLE.source}(?=\\s*:)`)],
    ['string', DOUBLE],
    ['value', /-?\b\d[\d.]*\b|\b(?:true|false|null)\b/],
  ],
  sh: [
    HASH,
    ['string', new RegExp(`${DOUBLE.source}|'[^']*'`)],
    ['value', /\$(?:\w+|\{[^}]*\})/],
    ['name', /(?<=\s)--?[A-Za-z][\w-]*/],
    words(
      'awk curl do done echo export for grep in npm payments-gateway printf sed seq sleep until',
    ),
  ],
  console: [['word', /^\$ (?=\S)/m]],
  js: [
    SLASHES,
    ['string', new RegExp(`${STRING.source}|\`(?:\\\\.|[^\`\\\\])*\``)],
    ['value', NUMBER],
    words(
      'async await break catch const else false for from function if import instanceof let new null of require return throw true try typeof undefined while',
    ),
  ],
  python: [
    HASH,
    ['string', new RegExp(`"""[\\s\\S]*?"""|${STRING.source}`)],
    ['value', NUMBER],
    words(
      'and as break class def elif else except False for from if import in is lambda None not or pass raise return True try while with',
    ),
  ],
  php: [
    SLASHES,
    ['string', STRING],
    ['name', /\$\w+/],
    ['value', NUMBER],
    words(
      'array as catch class echo else false for foreach function if new null return throw true try',
    ),
  ],
  go: [
    SLASHES,
    ['string', new RegExp(`${DOUBLE.source}|\`[^\`]*\``)],
    ['value', NUMBER],
    words(
      'break case const continue defer else false for func if import nil package range return string switch true type var',
    ),
  ],
};

/** The sample as HTML. One in another language has no colours. */
export function highlight(text: string, language: string): string {
  const rules = Object.hasOwn(LANGUAGES, language) ? (LANGUAGES[language] ?? []) : [];
  if (rules.length === 0) return escapeHtml(text);
  const each = new RegExp(rules.map(([, { source }]) => `(${source})`).join('|'), 'gm');
  let html = '';
  let end = 0;
  for (const found of text.matchAll(each)) {
    const [name] = rules[found.slice(1).findIndex(Boolean)] ?? [];
    html += escapeHtml(text.slice(end, found.index));
    html += `<span class="${name}">${escapeHtml(found[0])}</span>`;
    end = found.index + found[0].length;
  }
  return html + escapeHtml(text.slice(end));
}
