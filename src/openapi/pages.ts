/**
 * The pages under /docs as HTML: the API reference, which Scalar draws from openapi.json, and the
 * guides. Without JavaScript, the reference is the list of operations and guides.
 */
import type { Operation } from '../kit/api/operation';
import { type Assets, assetPath } from './assets';
import { type ErrorCode, errorEntry } from '../domain/errors';
import { errorsOf, OPERATIONS } from './document';
import type { Guide } from './guides';
import { escapeHtml } from './html';

export function renderReference(guides: readonly Guide[], assets: Assets): string {
  const { scalar, start } = assets;
  return layout({
    title: 'API reference',
    current: '/docs',
    assets,
    guides,
    main: `<div id="reference"><main class="prose">
<h1>API reference</h1>
<noscript><p>Enable JavaScript to see schemas and code samples and to send requests.</p></noscript>
<p>The complete description is <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<h2>Guides</h2>
<ul>${guides.map(guideItem).join('')}</ul>
${tags().map(tagSection).join('\n')}
</main></div>
<script defer src="${assetPath(scalar)}"></script>
<script defer src="${assetPath(start)}"></script>`,
  });
}

export function renderGuidePage(guide: Guide, guides: readonly Guide[], assets: Assets): string {
  const index = guides.indexOf(guide);
  const onward = [
    neighbour('prev', 'Previous', guides[index - 1]),
    neighbour('next', 'Next', guides[index + 1]),
  ];
  return layout({
    title: guide.title,
    description: guide.summary,
    current: pathOf(guide),
    assets,
    guides,
    main: `<div class="columns">
<nav class="side" aria-label="Documentation">${sideLinks(guides, pathOf(guide))}</nav>
<main class="prose">
${guide.html}
<nav class="onward" aria-label="Guides">${onward.join('')}</nav>
</main>
<nav class="contents" aria-labelledby="contents"><p id="contents">On this page</p>
<ul>${guide.sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`).join('')}</ul>
</nav>
</div>
<script defer src="${assetPath(assets.copy)}"></script>`,
  });
}

/** What an error code means, what to do, its details, and the operations that answer with it. */
export function renderErrorPage(code: ErrorCode, guides: readonly Guide[], assets: Assets): string {
  const { status, message, details } = errorEntry(code);
  const operations = OPERATIONS.filter((operation) => errorsOf(operation).includes(code));
  return layout({
    title: `Error ${code}`,
    description: message,
    current: '',
    assets,
    guides,
    main: `<div class="columns">
<nav class="side" aria-label="Documentation">${sideLinks(guides, '')}</nav>
<main class="prose">
<h1>Error <code>${code}</code></h1>
<p>${escapeHtml(message)}</p>
<p>HTTP status: ${String(status)}. The <a href="/docs/guides/errors">guide to errors</a> says which requests to repeat.</p>
${details === undefined ? '' : `<h2>Details</h2>\n${detailsTable(details)}`}
${operations.length === 0 ? '' : `<h2>Operations</h2>\n<ul>${operations.map(operationLink).join('')}</ul>`}
</main>
</div>`,
  });
}

interface DetailsSchema {
  properties?: Record<string, { description?: string }>;
}

function detailsTable({ properties = {} }: DetailsSchema): string {
  const rows = Object.entries(properties).map(
    ([name, { description = '' }]) =>
      `<tr><td><code>details.${name}</code></td><td>${escapeHtml(description)}</td></tr>`,
  );
  return `<div class="table" tabindex="0"><table><thead><tr><th>Field</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function operationLink({ method, path, tag, summary }: Operation): string {
  const href = `/docs#${anchorOf({ method, path, tag })}`;
  return `<li><a href="${href}">${escapeHtml(summary)}</a>: <code>${method.toUpperCase()} ${escapeHtml(path)}</code></li>`;
}

/** The page for a path below /docs that does not exist. */
export function renderMissingPage(guides: readonly Guide[], assets: Assets): string {
  return layout({
    title: 'Page not found',
    current: '',
    assets,
    guides,
    main: `<main class="prose">
<h1>Page not found</h1>
<p>These pages exist:</p>
<ul>${guides.map(guideItem).join('')}</ul>
</main>`,
  });
}

interface Page {
  title: string;
  description?: string;
  /** The path that the navigation marks. */
  current: string;
  guides: readonly Guide[];
  assets: Assets;
  main: string;
}

function layout({ title, description, current, guides, assets, main }: Page): string {
  const summary = escapeHtml(description ?? 'Accept crypto payments and send payouts.');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${summary}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Payments gateway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath(assets.style)}">
</head>
<body>
<header class="top">
<a class="brand" href="/docs"><span aria-hidden="true">G</span>Payments gateway</a>
<nav class="tabs" aria-label="Documentation">
${tab('/docs/guides/quickstart', 'Guides', current !== '/docs')}
${tab('/docs', 'API reference', current === '/docs')}
</nav>
<a class="back" href="/dashboard">Dashboard</a>
<details class="menu"><summary>Menu</summary><nav aria-label="All pages">${sideLinks(guides, current, [{ href: '/dashboard', text: 'Dashboard' }])}</nav></details>
</header>
${main}
</body>
</html>
`;
}

function tab(href: string, text: string, isCurrent: boolean): string {
  return `<a href="${href}"${isCurrent ? ' class="current"' : ''}>${text}</a>`;
}

function sideLinks(
  guides: readonly Guide[],
  current: string,
  more: readonly { href: string; text: string }[] = [],
): string {
  const links = [
    ...guides.map((guide) => ({ href: pathOf(guide), text: guide.title })),
    { href: '/docs', text: 'API reference' },
    ...more,
  ];
  const items = links.map(
    ({ href, text }) =>
      `<li><a href="${href}"${href === current ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}

function guideItem(guide: Guide): string {
  return `<li><a href="${pathOf(guide)}">${escapeHtml(guide.title)}</a>: ${escapeHtml(guide.summary)}</li>`;
}

function neighbour(rel: 'prev' | 'next', label: string, guide: Guide | undefined): string {
  if (guide === undefined) return '<span></span>';
  return `<a rel="${rel}" href="${pathOf(guide)}"><small>${label}</small>${escapeHtml(guide.title)}</a>`;
}

function pathOf({ name }: Guide): string {
  return `/docs/guides/${name}`;
}

function tags(): string[] {
  return [...new Set(OPERATIONS.map(({ tag }) => tag))];
}

function tagSection(tag: string): string {
  const operations = OPERATIONS.filter((operation) => operation.tag === tag);
  return `<h2>${tag}</h2>\n${operations.map(operationSection).join('\n')}`;
}

/** The id is the one that Scalar gives the operation, so that a link leads to it with and without JavaScript. */
function anchorOf({ method, path, tag }: Pick<Operation, 'method' | 'path' | 'tag'>): string {
  return `tag/${tag.toLowerCase()}/${method.toUpperCase()}${path}`;
}

function operationSection({ method, path, tag, summary, description, scope }: Operation): string {
  const id = anchorOf({ method, path, tag });
  return `<h3 id="${id}"><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p><code>${method.toUpperCase()} /api/v1${escapeHtml(path)}</code> · ${scope === null ? 'any API key' : `scope <code>${scope}</code>`}</p>
<p>${escapeHtml(description)}</p>`;
}
