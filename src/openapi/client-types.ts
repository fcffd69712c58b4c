/**
 * The API's objects, queries and error details as TypeScript, for the SDK: clients/typescript/src/generated.ts. The
 * SDK can then be used without the schemas' library. `npm run openapi` writes the file.
 */
import { errorEntry } from '../domain/errors';
import { TEST_EVENTS, TEST_PAYMENT, TEST_PAYOUT } from '../domain/test-events';
import { buildDocument, OPERATIONS, USED_ERRORS } from './document';

export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  /** The values of today. These types are not checked at run time, so a new value does no harm. */
  'x-extensible-enum'?: readonly unknown[];
  'x-extensible-anyOf'?: readonly JsonSchema[];
  anyOf?: readonly JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  patternProperties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  description?: string;
}

const HEAD = `/** The API's types. Written by \`npm run openapi\` from the schemas: do not edit. */
`;

export function buildClientTypes(): string {
  const { components } = buildDocument() as {
    components: { schemas: Record<string, JsonSchema> };
  };
  const { Error: _, ...objects } = components.schemas;
  return [
    HEAD,
    ...Object.entries(objects).map(([name, schema]) => declare(name, schema)),
    ...queries(),
    declare('ErrorDetails', {
      type: 'object',
      required: USED_ERRORS,
      properties: Object.fromEntries(
        USED_ERRORS.map((code) => [code, errorEntry(code).details ?? NOTHING]),
      ),
      description: 'What `details` of an error has, by its code',
    }),
    'export type ErrorCode = keyof ErrorDetails;',
    '\n/** The events that one request makes happen in test mode, and what the requests have beside it. */',
    ...Object.entries({ TEST_EVENTS, TEST_PAYMENT, TEST_PAYOUT }).map(
      ([name, value]) => `export const ${name} = ${JSON.stringify(value)} as const;`,
    ),
  ].join('\n');
}

/** One class for each error code, and which class a code has: clients/typescript/src/generated-errors.ts. */
export function buildClientErrors(): string {
  const classes = USED_ERRORS.map((code) => ({ code, name: errorClass(code) }));
  return [
    '/** A class for each error code. Written by `npm run openapi` from the catalogue: do not edit. */',
    "import { ApiError, type ErrorFields } from './api-error';",
    "import type { ErrorCode } from './generated';\n",
    ...classes.map(({ code, name }) => `export class ${name} extends ApiError<'${code}'> {}`),
    '\n/** The class of each error code. */\nexport const ERROR_CLASSES: { [Code in ErrorCode]: new (fields: ErrorFields<Code>) => ApiError<Code> } = {',
    ...classes.map(({ code, name }) => `${code}: ${name},`),
    '};',
  ].join('\n');
}

/** `InvalidStateError` for `invalid_state`. */
function errorClass(code: string): string {
  const words = code.replace(/_error$/, '').split('_');
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`;
}

/** The type `undefined`. */
const NOTHING: JsonSchema = { type: 'undefined' };

/** The query of each operation that has one: `ListPayoutsQuery`. */
function queries(): string[] {
  return OPERATIONS.flatMap(({ id, parameters, summary }) => {
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    if (inQuery.length === 0) return [];
    const properties = inQuery.map(({ name, schema, description }) => {
      // One value is a list as well.
      const { items } = schema as JsonSchema;
      const given = items === undefined ? schema : { anyOf: [items, schema as JsonSchema] };
      return [name, { ...given, description }] as const;
    });
    const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}Query`;
    const required = inQuery.filter((parameter) => parameter.required).map((one) => one.name);
    const description = `${summary}: the parameters`;
    return [
      declare(name, {
        type: 'object',
        properties: Object.fromEntries(properties),
        required,
        description,
      }),
    ];
  });
}

function declare(name: string, schema: JsonSchema): string {
  return `${comment(schema)}export interface ${name} ${typeOf(schema)}\n`;
}

function comment({ description }: JsonSchema): string {
  return description === undefined ? '' : `/** ${description.replaceAll('*/', '* /')} */\n`;
}

/** `string` includes every text. */
function unionType(types: readonly string[]): string {
  const isText = types.includes('string');
  return types.filter((type) => !isText || !type.startsWith('"')).join(' | ');
}

function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if ('const' in schema) return JSON.stringify(schema.const);
  const members = schema.anyOf ?? schema['x-extensible-anyOf'];
  if (members !== undefined) return unionType(members.map(typeOf));
  if (Array.isArray(schema.type)) {
    return schema.type
      .map((type: string) => typeOf(type === 'null' ? { type } : { ...schema, type }))
      .join(' | ');
  }
  const values = schema.enum ?? schema['x-extensible-enum'];
  if (values !== undefined) return values.map((one) => JSON.stringify(one)).join(' | ');
  switch (schema.type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `(${typeOf(schema.items ?? {})})[]`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'undefined':
      return schema.type;
    default:
      throw new Error(`No TypeScript for the schema ${JSON.stringify(schema)}`);
  }
}

function objectType({ properties = {}, required = [], patternProperties }: JsonSchema): string {
  const [values] = Object.values(patternProperties ?? {});
  if (values !== undefined) return `Record<string, ${typeOf(values)}>`;
  const members = Object.entries(properties).map(([name, schema]) => {
    const isOptional = !required.includes(name);
    // Programs that are compiled with exactOptionalPropertyTypes may pass undefined, too.
    const type = isOptional ? `${typeOf(schema)} | undefined` : typeOf(schema);
    return `${comment(schema)}${name}${isOptional ? '?' : ''}: ${type};`;
  });
  return members.length === 0 ? 'Record<string, unknown>' : `{\n${members.join('\n')}\n}`;
}
