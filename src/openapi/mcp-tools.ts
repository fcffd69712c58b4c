/**
 * The tools of the MCP server in clients/mcp: which operations assistants get, with the schemas of the API's
 * document. `npm run openapi` writes them to clients/mcp/src/generated.ts.
 */
import { errorEntry } from '../domain/errors';
import type { Operation } from '../kit/api/operation';
import { buildDocument, errorsOf, OPERATIONS } from './document';

/** They change nothing, so any key may use them. */
const READS = [
  'getBalance',
  'listTransactions',
  'listPayments',
  'getPayment',
  'listRefunds',
  'getRefund',
  'listPayouts',
  'getPayout',
  'listPayoutBatches',
  'getPayoutBatch',
  'listRecipients',
  'getRecipient',
  'listEvents',
  'getEvent',
  'listWebhookEndpoints',
  'listWebhookDeliveries',
  'getWebhookDelivery',
  'listCurrencies',
  'quoteFee',
  'listRequestLogs',
  'getRequestLog',
];

/** Only for test keys. What ends something is destructive, and is done once. */
const ACTIONS: Record<string, 'adds' | 'ends'> = {
  createPayment: 'adds',
  createRefund: 'adds',
  createPayout: 'adds',
  cancelPayment: 'ends',
  cancelPayout: 'ends',
  resendWebhookDelivery: 'adds',
};

interface Schema {
  $ref?: string;
  type?: unknown;
  required?: readonly string[];
  properties?: Record<string, Schema>;
}

interface DocumentedOperation {
  operationId: string;
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content: Record<string, { schema: Schema }> }>;
  parameters: {
    name: string;
    in: string;
    required?: boolean;
    schema: Schema;
    description: string;
  }[];
}

interface ApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Schema> };
}

export function buildMcpTools(): string {
  const { paths, components } = buildDocument() as unknown as ApiDocument;
  const { schemas } = components;
  const tools = [...READS, ...Object.keys(ACTIONS)].map((id) => {
    const operation = OPERATIONS.find((one) => one.id === id);
    if (operation === undefined) throw new Error(`There is no operation ${id}.`);
    const documented = paths[operation.path]?.[operation.method];
    if (documented === undefined) throw new Error(`${id} is not in the document.`);
    return toolOf(operation, documented, schemas);
  });
  const event: Schema = { $ref: '#/components/schemas/Event' };
  const used = definitionsOf([...tools.map(({ output }) => output), event], schemas);
  return [
    '/** The tools of the MCP server. Written by `npm run openapi` from the schemas: do not edit. */',
    "import type { ErrorMeaning, JsonSchema, OperationTool } from './operation-tool';",
    `export const OPERATION_TOOLS: readonly OperationTool[] = [\n${tools.map(line).join('')}];`,
    `export const EVENT: JsonSchema = ${JSON.stringify(resolve(event, schemas))};`,
    `/** The schemas that others refer to. */`,
    `export const DEFINITIONS: Readonly<Record<string, JsonSchema>> = ${members(used)};`,
    `export const ERRORS: Readonly<Record<string, ErrorMeaning>> = ${members(errorMeanings())};\n`,
  ]
    .join('\n\n')
    .replaceAll('#/components/schemas/', '#/$defs/');
}

/** A line for each, so that a change is seen and nobody scrolls through thousands of lines. */
const line = (item: unknown): string => `  ${JSON.stringify(item)},\n`;
const members = (of: object): string =>
  `{\n${Object.entries(of)
    .map(([name, item]) => `  ${JSON.stringify(name)}: ${JSON.stringify(item)},\n`)
    .join('')}}`;

function toolOf(
  { id, method, path, summary, description }: Operation,
  { parameters, requestBody, responses }: DocumentedOperation,
  schemas: Record<string, Schema>,
) {
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const output = success?.[1].content['application/json']?.schema ?? {};
  const given = parameters.filter(({ in: place }) => place !== 'header');
  const body = resolve(requestBody?.content['application/json']?.schema ?? {}, schemas);
  return {
    name: id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: summary,
    description,
    method: method.toUpperCase(),
    path,
    kind: ACTIONS[id] ?? 'reads',
    hasIdempotencyKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    query: given.filter((one) => one.in === 'query').map(({ name }) => name),
    input: portable({
      type: 'object',
      properties: {
        ...Object.fromEntries(given.map((one) => [one.name, described(one)])),
        ...body.properties,
      },
      required: [
        ...given.filter(({ required }) => required === true).map(({ name }) => name),
        ...(body.required ?? []),
      ],
      additionalProperties: false,
    }),
    output: resolve(output, schemas),
  };
}

function described({ schema, description }: DocumentedOperation['parameters'][number]) {
  return { ...schema, description };
}

/**
 * The schema without the keywords that some hosts refuse, with all tools of the server: lists of types, `not`, `const`
 * and `patternProperties`. It then allows more; the API checks what a tool sends.
 */
function portable<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(portable) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([keyword, given]): [string, unknown][] => {
    switch (keyword) {
      case 'not':
        return [];
      case 'const':
        return typeof given === 'string' ? [['enum', [given]]] : [];
      case 'patternProperties':
        return [['additionalProperties', portable(Object.values(given as object)[0])]];
      case 'type':
        return [[keyword, Array.isArray(given) ? given.find((one) => one !== 'null') : given]];
      default:
        return [[keyword, portable(given)]];
    }
  });
  return Object.fromEntries(entries) as Value;
}

/** The root of a tool's schema is an object, and no reference to one. */
function resolve(schema: Schema, schemas: Record<string, Schema>): Schema {
  const name = nameOf(schema.$ref);
  return name === undefined ? schema : (schemas[name] ?? {});
}

function nameOf(reference: string | undefined): string | undefined {
  return reference?.split('/').at(-1);
}

/** Every schema that these refer to, also by way of another one. */
function definitionsOf(roots: readonly Schema[], schemas: Record<string, Schema>) {
  const found: Record<string, Schema> = {};
  const visit = (schema: Schema): void => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const named = schemas[name];
      if (named === undefined || Object.hasOwn(found, name)) continue;
      found[name] = named;
      visit(named);
    }
  };
  roots.forEach(visit);
  return found;
}

function errorMeanings() {
  const codes = [...new Set(OPERATIONS.flatMap(errorsOf))].sort();
  return Object.fromEntries(
    codes.map((code) => {
      const { status, message, details } = errorEntry(code);
      return [code, { status, message, details: details ?? null }];
    }),
  );
}
