/**
 * The guides for merchants: docs/guides/*.md, which GitHub shows as well, as HTML. The files are ours, so
 * HTML in them is not escaped.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { ROOT } from './assets';
import { highlight } from './highlight';
import { escapeHtml } from './html';

/**
 * The guides in the order of the navigation. Each is a file in docs/guides and a page at
 * /docs/guides/<name>.
 */
export const GUIDE_NAMES = [
  'quickstart',
  'payments',
  'payouts',
  'batches',
  'recipients',
  'people',
  'accounting',
  'webhooks',
  'evidence',
  'sdk',
  'python',
  'cli',
  'assistants',
  'testing',
  'errors',
  'going-live',
] as const;

/** The base URL of the samples in the files; a page shows the URL of the gateway that serves it. */
const SAMPLE_URL = 'http://localhost:3000';

export interface Guide {
  name: string;
  title: string;
  /** The first paragraph, as plain text. */
  summary: string;
  html: string;
  /** The headings of the second level. */
  sections: { id: string; title: string }[];
}

/** @param publicUrl the gateway's public URL, such as `https://pay.example.com` */
export function readGuides(publicUrl: string): Guide[] {
  return GUIDE_NAMES.map((name) => {
    const text = readFileSync(join(ROOT, 'docs/guides', `${name}.md`), 'utf8');
    return renderGuide(name, text.replaceAll(SAMPLE_URL, publicUrl));
  });
}

function renderGuide(name: string, markdown: string): Guide {
  const guide: Guide = { name, title: '', summary: '', html: '', sections: [] };
  const ids = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ depth, tokens }: Tokens.Heading) {
        const title = this.parser.parseInline(tokens);
        const text = plainText(this.parser.parseInline(tokens, this.parser.textRenderer));
        const slug = slugOf(text);
        const seen = ids.get(slug) ?? 0;
        ids.set(slug, seen + 1);
        const id = seen === 0 ? slug : `${slug}-${seen}`;
        if (depth === 1) guide.title = text;
        if (depth === 2) guide.sections.push({ id, title: text });
        return depth === 1
          ? `<h1>${title}</h1>\n`
          : `<h${depth} id="${id}"><a href="#${id}">${title}</a></h${depth}>\n`;
      },
      paragraph({ tokens }: Tokens.Paragraph) {
        guide.summary ||= plainText(this.parser.parseInline(tokens, this.parser.textRenderer));
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      // The block can have the focus, so that it can be scrolled with the keyboard.
      code({ text, lang }: Tokens.Code) {
        const language = lang ?? 'text';
        return `<div class="code"><pre tabindex="0"><code class="language-${language}">${highlight(text, language)}\n</code></pre></div>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const page = pageOf(href);
        const text = this.parser.parseInline(tokens);
        return page === undefined ? text : `<a href="${escapeHtml(page)}">${text}</a>`;
      },
    },
  });
  guide.html = (marked.parse(markdown) as string)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return guide;
}

/**
 * A link between files, as a link between pages: `payouts.md#cancel` → `/docs/guides/payouts#cancel`.
 * @returns undefined for other files of the project, which are no pages
 */
function pageOf(href: string): string | undefined {
  if (/^(#|\/|https:)/.test(href)) return href;
  if (href.endsWith('/openapi.json')) return '/api/v1/openapi.json';
  const [, name, anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  return name === undefined ? undefined : `/docs/guides/${name}${anchor}`;
}

/** The id of a heading, made as GitHub makes it. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');
}

/** Undoes the escaping of the parser. */
function plainText(html: string): string {
  return html
    .replaceAll(/&#39;/g, "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
