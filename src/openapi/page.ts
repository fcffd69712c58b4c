/**
 * The API's documentation for people, written from the same operations as openapi.json: one page,
 * no scripts, nothing from elsewhere.
 */
import type { TSchema } from 'typebox';
import { ERRORS } from '../domain/errors';
import type { Operation, Parameter } from '../schemas/operation';
import { errorsOf, OPERATIONS } from './document';
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
  return `<p>Base URL: <code>${escapeHtml(base)}</code>. Authenticate every request with your API key:
<code>Authorization: Bearer &lt;API_KEY&gt;</code>. Test keys start with <code>sk_test_</code>, live
keys with <code>sk_live_</code>. Each key can access only the data of its own mode.</p>
<p>Amounts are decimal strings. Amounts in responses always have 8 decimals. Every response has an
<code>X-Request-Id</code> header; include it when you contact support.</p>
<p>After a timeout or a 5xx response, retry the same request with the same
<code>Idempotency-Key</code> and exponential backoff (1 s, 2 s, 4 s, 8 s). After a 429 response, wait
for <code>Retry-After</code> seconds. Correct the request before you retry any other 4xx
response.</p>`;
}

function section(operation: Operation, base: string): string {
  const { id, method, path, summary, description, scope, parameters, success } = operation;
  return `<section id="${id}">
<h2>${escapeHtml(summary)}</h2>
<p class="line"><span class="method ${method}">${method.toUpperCase()}</span>
<code>${escapeHtml(path)}</code>
<span class="scope">${scope === null ? 'any valid API key' : scope}</span></p>
<p>${escapeHtml(description)}</p>
${parameters.length === 0 ? '' : parameterTable(parameters)}
${operation.body === undefined ? '' : fieldTable('Body field', operation.body.schema)}
${requestExamples(operation, base)}
<h3>Response ${success.status}</h3>
${jsonBlock(success.example)}
<details><summary>Response fields</summary>${fieldTable('Field', success.schema)}</details>
<p class="errors">Errors: ${errorLinks(operation)}.</p>
</section>`;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    (parameter) => `<tr><td><code>${parameter.name}</code></td><td>${parameter.in}</td>
<td>${parameter.required === true ? 'required' : ''}</td>
<td>${escapeHtml(parameter.description)}</td></tr>`,
  );
  return `<table><thead><tr><th>Parameter</th><th>In</th><th></th><th>Description</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;
}

function fieldTable(heading: string, schema: TSchema): string {
  const rows = listFields(schema).map(
    ({ path, type, required, description }) => `<tr><td><code>${escapeHtml(path)}</code></td>
<td>${escapeHtml(type)}${heading === 'Body field' && required ? ', required' : ''}</td>
<td>${escapeHtml(description)}</td></tr>`,
  );
  return `<table><thead><tr><th>${heading}</th><th>Type</th><th>Description</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;
}

/** A row of a table of fields: one for each field of a schema, parents first. */
interface FieldRow {
  /** `destination.value`, `balances[].currency` */
  path: string;
  type: string;
  required: boolean;
  description: string;
}

interface Described {
  type?: string;
  description?: string;
  properties?: Record<string, Described>;
  required?: readonly string[];
  items?: Described;
  anyOf?: readonly Described[];
  enum?: readonly unknown[];
  const?: unknown;
}

function listFields(schema: TSchema): FieldRow[] {
  return membersOf(schema, '');
}

function membersOf(schema: Described, prefix: string): FieldRow[] {
  if (schema.items !== undefined) return membersOf(schema.items, `${prefix.slice(0, -1)}[].`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    {
      path: prefix + name,
      type: typeOf(member),
      required: schema.required?.includes(name) ?? false,
      description: describe(member),
    },
    ...membersOf(member, `${prefix}${name}.`),
  ]);
}

function typeOf({ type, anyOf, enum: values, const: constant }: Described): string {
  if (constant !== undefined) return JSON.stringify(constant);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  return type ?? (values === undefined ? 'any' : 'string');
}

function describe({ description, anyOf, enum: values }: Described): string {
  const text = description ?? anyOf?.map(({ description: own }) => own ?? '').join('') ?? '';
  const list = values === undefined ? '' : values.join(', ');
  return list === '' || text.includes(list) ? text : `${text}: ${list}`;
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
    .sort((a, b) => ERRORS[a].status - ERRORS[b].status)
    .map(
      (code) => `<tr id="error-${code}"><td>${ERRORS[code].status}</td><td><code>${code}</code></td>
<td>${escapeHtml(ERRORS[code].message)}</td></tr>`,
    );
  return `<section id="errors"><h2>Errors</h2>
<p>The body of an error is <code>{"error":{"code","message","details","request_id"}}</code>. Some
errors have no details.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Message</th></tr></thead>
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
