/**
 * Checks real answers against openapi.json, with a validator that shares nothing with the schemas'
 * library. MerchantClient calls it for every answer that a test receives.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { type ErrorCode, errorEntry } from '../../../src/domain/errors';

interface HeaderObject {
  $ref?: string;
  required?: boolean;
}

interface ResponseObject {
  $ref?: string;
  description: string;
  headers?: Record<string, HeaderObject>;
  content: Record<string, { schema: object; example?: unknown }>;
}

interface OperationObject {
  operationId: string;
  requestBody?: {
    content: Record<string, { schema: object; examples: Record<string, { value: unknown }> }>;
  };
  responses: Record<string, ResponseObject>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, object>;
    headers: Record<string, HeaderObject>;
    responses: Record<string, ResponseObject>;
  };
}

export const DOCUMENT = JSON.parse(
  readFileSync(join(__dirname, '../../../openapi.json'), 'utf8'),
) as OpenApiDocument;

const DOCUMENT_URI = 'https://gateway.example/openapi.json';

const ajv = addFormats(
  // Compiles four times as fast; every test file compiles what it uses.
  new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } }),
);
ajv.addSchema(closed(DOCUMENT), DOCUMENT_URI);

/**
 * The document allows members, values and kinds of objects that a later version adds. An answer of this version has none that
 * the document does not name.
 */
function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, closed(member)]),
  );
  if ('x-extensible-anyOf' in copy) return { anyOf: copy['x-extensible-anyOf'] } as Value;
  const values = copy['x-extensible-enum'] as unknown[] | undefined;
  if (values !== undefined) {
    const isNullable = Array.isArray(copy['type']) && copy['type'].includes('null');
    return { ...copy, enum: isNullable ? [...values, null] : values } as Value;
  }
  const isObject = [copy['type']].flat().includes('object');
  const isOpen = isObject && Object.keys(copy['properties'] ?? {}).length > 0;
  return (isOpen ? { additionalProperties: false, ...copy } : copy) as Value;
}

const compiled = new Map<string, ValidateFunction>();

/** @param pointer of a schema in the document, such as `/components/schemas/Payout` */
export function violations(pointer: string, value: unknown): string[] {
  return violationsOf(pointer, { $ref: `${DOCUMENT_URI}#${pointer}` }, value);
}

function violationsOf(name: string, schema: object, value: unknown): string[] {
  let validate = compiled.get(name);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    compiled.set(name, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
}

export function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The document's path for a real one, or undefined for a path that the API does not have. */
function templateOf(path: string): string | undefined {
  const [pathname = ''] = path.split('?');
  return Object.keys(DOCUMENT.paths).find((template) =>
    new RegExp(`^${template.replaceAll(/\{[a-z]+\}/g, '[^/]+')}$`).test(pathname),
  );
}

function isRequired({ $ref, required }: HeaderObject): boolean {
  const name = $ref?.split('/').at(-1);
  return name === undefined
    ? required === true
    : DOCUMENT.components.headers[name]?.required === true;
}

/** The answer, and where its schema is in the document. */
export function responseOf(path: string, method: string, status: number | string) {
  const response = DOCUMENT.paths[path]?.[method]?.responses[status];
  const name = response?.$ref?.split('/').at(-1);
  if (response === undefined || name === undefined) {
    const at = `/paths/${escapePointer(path)}/${method}/responses/${status}`;
    return response && { ...response, pointer: at };
  }
  const pointer = `/components/responses/${name}`;
  return { ...DOCUMENT.components.responses[name]!, ...response, pointer };
}

/** What the code of an error says that the schema of all errors does not. */
function errorViolations(description: string, json: unknown): string[] {
  const { code, details } = (json as { error: { code: ErrorCode; details?: unknown } }).error;
  const schema = errorEntry(code).details;
  return [
    ...(description.includes(`\`${code}\``) ? [] : [`${code} is not described`]),
    ...(schema === undefined ? [] : violationsOf(`details of ${code}`, closed(schema), details)),
  ];
}

/** @throws Error that says how the answer breaks the contract */
export function checkContract(
  method: string,
  path: string,
  answer: { status: number; headers: Headers; json: unknown },
): void {
  const template = templateOf(path);
  const operation = template && DOCUMENT.paths[template]?.[method.toLowerCase()];
  // Unknown paths and methods have no operation; their errors are tested on their own.
  if (template === undefined || operation === undefined || operation === '') return;
  const where = `${method} ${path}: ${answer.status}`;
  const response = responseOf(template, method.toLowerCase(), answer.status);
  if (response === undefined) throw new Error(`${where} is not in openapi.json`);
  const missing = Object.entries(response.headers ?? {})
    .filter(([name, header]) => isRequired(header) && !answer.headers.has(name))
    .map(([name]) => name);
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
  const pointer = `${response.pointer}/content/${escapePointer(type)}/schema`;
  const broken = [
    ...missing.map((name) => `header ${name} is missing`),
    ...violations(pointer, answer.json),
  ];
  if (answer.status >= 400 && broken.length === 0) {
    broken.push(...errorViolations(response.description, answer.json));
  }
  if (broken.length > 0) {
    throw new Error(`${where} breaks the contract:\n${broken.slice(0, 10).join('\n')}`);
  }
}
