/**
 * The API's documentation for people, written from the same operations as openapi.json: one page,
 * no scripts, nothing from elsewhere.
 */
import type { TSchema } from 'typebox';
import { ERRORS } from '../domain/errors';
import { errorsOf } from './document';
import { listFields } from './field-list';
import type { Operation, Parameter } from './operation';
import { OPERATIONS } from './operations';
import { PAGE_STYLE } from './page-style';

export function renderPage(publicUrl: string): string {
  const base = `${publicUrl}/api/v1`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payments and Payouts API</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<nav aria-label="Operations"><strong>API v1</strong>${navigation()}
<p><a href="/api/v1/openapi.json">openapi.json</a></p></nav>
<main>
<h1>Payments and Payouts API</h1>
${introduction(base)}
${OPERATIONS.map((operation) => section(operation, base)).join('\n')}
${errorTable()}
</main>
</body>
</html>
`;
}

function navigation(): string {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))];
  return tags
    .map((tag) => {
      const links = OPERATIONS.filter((operation) => operation.tag === tag).map(
        ({ id, summary }) => `<li><a href="#${id}">${escapeHtml(summary)}</a></li>`,
      );
      return `<h2>${tag}</h2><ul>${links.join('')}</ul>`;
    })
    .join('');
}

function introduction(base: string): string {
  return `<p>Base address: <code>${escapeHtml(base)}</code>. Send your key with every request:
<code>Authorization: Bearer &lt;API_KEY&gt;</code>. A test key begins with <code>sk_test_</code>, a
live key with <code>sk_live_</code>; each sees the data of its own mode.</p>
<p>Amounts are decimal strings. Answers always have 8 decimals. Every answer carries
<code>X-Request-Id</code>; name it when you ask for help.</p>
<p>After a time-out or a 5xx, send the same request again with the same
<code>Idempotency-Key</code> and wait longer each time (1 s, 2 s, 4 s, 8 s). On 429 wait for
<code>Retry-After</code>. Do not repeat another 4xx before the request is corrected.</p>`;
}

function section(operation: Operation, base: string): string {
  const { id, method, path, summary, description, scope, parameters, success } = operation;
  return `<section id="${id}">
<h2>${escapeHtml(summary)}</h2>
<p class="line"><span class="method ${method}">${method.toUpperCase()}</span>
<code>${escapeHtml(path)}</code>
<span class="scope">${scope === null ? 'any valid key' : scope}</span></p>
<p>${escapeHtml(description)}</p>
${parameters.length === 0 ? '' : parameterTable(parameters)}
${operation.body === undefined ? '' : fieldTable('Body', operation.body.schema)}
${requestExamples(operation, base)}
<h3>Answer ${success.status}</h3>
${jsonBlock(success.example)}
<details><summary>Every member of the answer</summary>${fieldTable('Answer', success.schema)}</details>
<p class="errors">Can be refused with ${errorLinks(operation)}.</p>
</section>`;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    (parameter) => `<tr><td><code>${parameter.name}</code></td><td>${parameter.in}</td>
<td>${parameter.required === true ? 'required' : ''}</td>
<td>${escapeHtml(parameter.description)}</td></tr>`,
  );
  return `<table><thead><tr><th>Parameter</th><th>In</th><th></th><th>Meaning</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;
}

function fieldTable(heading: string, schema: TSchema): string {
  const rows = listFields(schema).map(
    ({ path, type, required, description }) => `<tr><td><code>${escapeHtml(path)}</code></td>
<td>${escapeHtml(type)}${heading === 'Body' && required ? ', required' : ''}</td>
<td>${escapeHtml(description)}</td></tr>`,
  );
  return `<table><thead><tr><th>${heading}</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;
}

function requestExamples({ method, path, body }: Operation, base: string): string {
  const call = `curl -X ${method.toUpperCase()} ${base}${path} \\\n  -H "Authorization: Bearer $KEY"`;
  if (body === undefined) return `<pre>${escapeHtml(call)}</pre>`;
  const withBody = `${call} \\\n  -H "Idempotency-Key: $(uuidgen)" \\\n  -H "Content-Type: application/json" \\\n  -d @request.json`;
  const examples = Object.entries(body.examples).map(
    ([name, value]) =>
      `<h4>request.json, ${escapeHtml(name.replaceAll('_', ' '))}</h4>${jsonBlock(value)}`,
  );
  return `<pre>${escapeHtml(withBody)}</pre>${examples.join('')}`;
}

function errorLinks(operation: Operation): string {
  return errorsOf(operation)
    .map((code) => `<a href="#error-${code}"><code>${code}</code></a>`)
    .join(', ');
}

function errorTable(): string {
  const codes = [...new Set(OPERATIONS.flatMap((operation) => errorsOf(operation)))];
  const rows = codes
    .sort((a, b) => ERRORS[a][0] - ERRORS[b][0])
    .map(
      (code) => `<tr id="error-${code}"><td>${ERRORS[code][0]}</td><td><code>${code}</code></td>
<td>${escapeHtml(ERRORS[code][1])}</td></tr>`,
    );
  return `<section id="errors"><h2>Errors</h2>
<p>An error body is <code>{"error":{"code","message","details","request_id"}}</code>; not every
error has details.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>What to do</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></section>`;
}

function jsonBlock(value: object): string {
  return `<pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
