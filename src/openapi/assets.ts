/**
 * The files that the pages under /docs load: Scalar's script as its package ships it, the script that
 * starts it, the buttons that copy samples, and the style. A name contains the hash of the content, so browsers may keep it for ever.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { STYLE } from './style';

/** The project's folder, or `dist`, to which `npm run build` copies what the pages need. */
export const ROOT = join(__dirname, '../..');
const BUILT_SCALAR = join(ROOT, 'docs/scalar.js');

/**
 * Nothing is loaded from or sent to other hosts: no fonts, no telemetry, no proxy for requests. The key
 * that a reader pastes stays in the page's memory.
 */
const SCALAR_OPTIONS = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  persistAuth: false,
  theme: 'none',
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  operationTitleSource: 'summary',
  defaultOpenFirstTag: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'bearer' },
};

/** What Scalar's elements lack for a screen reader and the keyboard, as axe reports it. */
const MEND = `function mend() {
  const all = (selector) => document.querySelectorAll('#reference ' + selector);
  for (const button of all(':is(.code-copy, .scalar-code-copy, [class*="copy-button"])')) button.ariaLabel = 'Copy';
  for (const button of all('.client-libraries__select')) Object.assign(button, { role: 'tab', ariaLabel: 'More languages' });
  for (const button of all('button[role=search]')) button.removeAttribute('role');
  for (const button of all('button[aria-selected]:not([role])')) button.removeAttribute('aria-selected');
  for (const button of all('.show-more')) button.removeAttribute('aria-label');
  for (const list of all('.client-libraries-content')) list.role = 'presentation';
  for (const part of all('button [tabindex]')) part.removeAttribute('tabindex');
  for (const button of all('button button')) button.inert = true;
  for (const list of all('.endpoints')) list.tabIndex = 0;
  for (const part of all('aside[role]')) part.removeAttribute('role');
  for (const part of all('.response-card')) part.role = 'group';
  for (const part of all('header')) {
    part.role = 'none';
    Object.assign(part.parentElement, { role: 'region', ariaLabel: 'Contents' });
  }
}
`;

/**
 * Each operation that needs an idempotency key begins with a new one, so that a reader need not think of
 * one. randomUUID is missing on pages without HTTPS.
 */
const START = `fetch('/api/v1/openapi.json').then((answer) => answer.json()).then((content) => {
  for (const path of Object.values(content.paths)) for (const { parameters = [] } of Object.values(path)) {
    const key = parameters.find(({ name }) => name === 'Idempotency-Key');
    const random = crypto.getRandomValues(new Uint8Array(12));
    if (key) key.example = 'docs-' + Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }
  new MutationObserver(mend).observe(document.getElementById('reference'), { childList: true, subtree: true });
  Scalar.createApiReference('#reference', { content, ...${JSON.stringify(SCALAR_OPTIONS)} });
});
${MEND}`;

/** Without it, there are no buttons. Where the browser refuses the clipboard, the sample is selected. */
const COPY = `for (const code of document.querySelectorAll('.code')) {
  const sample = code.querySelector('code:not(.language-console)');
  if (!sample) continue;
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(sample.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(sample);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  code.append(button);
}
`;

export interface Asset {
  /** `style-0123456789ab.css` */
  name: string;
  type: 'text/javascript' | 'text/css';
  body: Buffer;
  /** Compresses the file once, when it is first asked for. */
  gzipped: () => Promise<Buffer>;
}

export type Assets = Record<'scalar' | 'start' | 'copy' | 'style', Asset>;

export function readAssets(): Assets {
  return {
    scalar: asset('scalar', 'js', readFileSync(scalarPath())),
    start: asset('start', 'js', Buffer.from(START)),
    copy: asset('copy', 'js', Buffer.from(COPY)),
    style: asset('style', 'css', Buffer.from(STYLE)),
  };
}

/** The package is a devDependency, so production has only the copy of the script. */
function scalarPath(): string {
  if (existsSync(BUILT_SCALAR)) return BUILT_SCALAR;
  return join(dirname(require.resolve('@scalar/fastify-api-reference')), 'js/standalone.js');
}

function asset(stem: string, extension: 'js' | 'css', body: Buffer): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  let compressed: Promise<Buffer> | undefined;
  return {
    name: `${stem}-${hash}.${extension}`,
    type: extension === 'js' ? 'text/javascript' : 'text/css',
    body,
    gzipped: () => (compressed ??= promisify(gzip)(body)),
  };
}

export function assetPath({ name }: Asset): string {
  return `/docs/assets/${name}`;
}
