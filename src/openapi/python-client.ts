/**
 * The Python client's types, errors and operations: clients/python/payments_gateway/_generated.py.
 * `npm run openapi` writes the file from the document, so an operation of the API is an operation of the
 * client.
 */
import { errorEntry } from '../domain/errors';
import type { JsonSchema } from './client-types';
import { buildDocument, USED_ERRORS } from './document';

interface Content {
  content?: { 'application/json': { schema: JsonSchema } };
}

interface DocumentedOperation {
  operationId: string;
  summary: string;
  description: string;
  parameters: {
    name: string;
    in: string;
    required?: boolean;
    schema: JsonSchema;
    description: string;
  }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

interface ApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

const HEAD = `"""The API's types, errors and operations. Written by \`npm run openapi\`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Sequence, TypedDict

from ._transport import ListOf, Resource
from .errors import ApiError
`;

export function buildPythonClient(): string {
  const { paths, components } = buildDocument() as unknown as ApiDocument;
  const types = new TypeWriter();
  const { Error: _, ...objects } = components.schemas;
  for (const [name, schema] of Object.entries(objects)) types.declare(name, schema);
  for (const code of USED_ERRORS) types.declareError(code, errorEntry(code).details);
  const resources = resourcesOf(paths, types);
  return [HEAD, ...types.written, ...resources].join('\n\n');
}

/** Objects within an object get a type of their own, because Python has no anonymous ones. */
class TypeWriter {
  readonly written: string[] = [];
  readonly errors: { code: string; name: string }[] = [];
  readonly #names = new Set<string>();

  /** @returns the name */
  declare(name: string, schema: JsonSchema): string {
    this.#names.add(name);
    const { properties = {}, required = [] } = schema;
    const members = Object.entries(properties).map(([field, member]) => {
      const type = this.typeOf(member, name + pascal(field));
      const shown = required.includes(field) ? type : `NotRequired[${type}]`;
      return `    ${identifier(field)}: ${shown}${docstring(member.description)}`;
    });
    const body = [
      ...(schema.description === undefined ? [] : [`    """${sentence(schema.description)}"""\n`]),
      ...(members.length === 0 ? ['    pass'] : members),
    ];
    this.written.push(`class ${name}(TypedDict):\n${body.join('\n')}\n`);
    return name;
  }

  declareError(code: string, details: JsonSchema | undefined): void {
    const name = `${pascal(code)}Error`;
    const type = details === undefined ? 'None' : this.typeOf(details, `${name}Details`);
    this.errors.push({ code, name });
    this.written.push(
      `class ${name}(ApiError):\n    """The error \`${code}\`."""\n\n    details: ${type}\n`,
    );
  }

  /** @param name for an object that has none */
  typeOf(schema: JsonSchema, name: string): string {
    if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'Any';
    if ('const' in schema) return `Literal[${literal(schema.const)}]`;
    const members = schema.anyOf ?? schema['x-extensible-anyOf'];
    if (members !== undefined) return unionOf(members.map((member) => this.typeOf(member, name)));
    if (Array.isArray(schema.type)) {
      return unionOf(
        schema.type.map((type: string) =>
          this.typeOf(type === 'null' ? { type } : { ...schema, type }, name),
        ),
      );
    }
    const values = schema.enum ?? schema['x-extensible-enum'];
    if (values !== undefined) return `Literal[${values.map(literal).join(', ')}]`;
    if (schema.type === 'array') return `list[${this.typeOf(schema.items ?? {}, singular(name))}]`;
    if (schema.type === 'object') return this.#objectType(schema, name);
    return primitive(String(schema.type));
  }

  #objectType(schema: JsonSchema, name: string): string {
    const [values] = Object.values(schema.patternProperties ?? {});
    if (values !== undefined) return `dict[str, ${this.typeOf(values, name)}]`;
    if (Object.keys(schema.properties ?? {}).length === 0) return 'dict[str, Any]';
    let free = name;
    for (let number = 2; this.#names.has(free); number += 1) free = `${name}${number}`;
    return this.declare(free, schema);
  }
}

/** A string type includes every text. */
function unionOf(members: readonly string[]): string {
  const isText = members.includes('str');
  const kept = members.filter((member) => !isText || !member.startsWith('Literal["'));
  return [...new Set(kept)].join(' | ');
}

const PRIMITIVES: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  object: 'dict[str, Any]',
};

function primitive(type: string): string {
  const found = PRIMITIVES[type];
  if (found === undefined) throw new Error(`No Python type for the JSON type ${type}`);
  return found;
}

function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

const KEYWORDS = [
  'and',
  'as',
  'class',
  'from',
  'global',
  'import',
  'in',
  'is',
  'not',
  'or',
  'pass',
];

function identifier(field: string): string {
  if (!/^[a-z_][a-z0-9_]*$/i.test(field) || KEYWORDS.includes(field)) {
    throw new Error(`${field} is no name of a member in Python`);
  }
  return field;
}

function docstring(description: string | undefined): string {
  return description === undefined ? '' : `\n    """${sentence(description)}"""`;
}

function sentence(text: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  return safe.endsWith('.') ? safe : `${safe}.`;
}

function pascal(text: string): string {
  return text
    .split(/[_\s-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function snake(text: string): string {
  return text.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`).replace(/^_/, '');
}

function singular(name: string): string {
  return name
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x)es$/, '$1')
    .replace(/([^s])s$/, '$1');
}

/** The package gives these resources more than the document says. */
const EXTENDED = ['events', 'payouts'];

function resourcesOf(paths: ApiDocument['paths'], types: TypeWriter): string[] {
  const methods = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const resource = path.split('/')[1] ?? '';
      const list = methods.get(resource) ?? [];
      list.push(...methodsOf(method.toUpperCase(), path, operation, types));
      methods.set(resource, list);
    }
  }
  const classes = [...methods].map(
    ([resource, list]) => `class ${classOf(resource)}(Resource):\n${list.join('\n')}`,
  );
  const known = types.errors.map(({ code, name }) => `    "${code}": ${name},`).join('\n');
  const plain = [...methods.keys()].filter((name) => !EXTENDED.includes(name));
  const names = plain.map((name) => `    ${name}: ${classOf(name)}`).join('\n');
  const made = plain.map((name) => `        self.${name} = ${classOf(name)}(send)`).join('\n');
  return [
    `ERRORS: dict[str, type[ApiError]] = {\n${known}\n}\n`,
    ...classes,
    `class Operations:\n${names}\n\n    def __init__(self, send: Any) -> None:\n${made}\n`,
  ];
}

function classOf(resource: string): string {
  return `${singular(pascal(resource))}Operations`;
}

interface Answer {
  type: string;
  /** What the method returns of the answer. */
  kind: 'list' | 'data' | 'whole' | 'nothing';
}

function answerOf(response: Content | undefined, types: TypeWriter, name: string): Answer {
  const schema = response?.content?.['application/json'].schema;
  if (schema === undefined) return { type: 'None', kind: 'nothing' };
  const { properties = {} } = schema;
  const { data } = properties;
  const others = Object.keys(properties).filter((key) => key !== 'data' && key !== 'object');
  if (data !== undefined && others.includes('meta')) {
    return { type: types.typeOf(data.items ?? {}, name), kind: 'list' };
  }
  if (data !== undefined && others.length === 0) {
    return { type: types.typeOf(data, name), kind: 'data' };
  }
  return { type: types.typeOf(schema, name), kind: 'whole' };
}

/** `create`, `get`, `list`; after an object's id the action, the part, or what is done with the part. */
function nameOf(path: string, operationId: string): string {
  const verb = snake(operationId).split('_')[0] ?? operationId;
  const [, , , last] = path.split('/');
  if (last === undefined || last === verb) return verb;
  if (verb === 'get') return last;
  return `${verb}_${verb === 'list' ? last : singular(last)}`;
}

/** One value of a list is a list as well. */
function queryType({ items }: JsonSchema, type: string): string {
  return items === undefined ? type : `${type} | Sequence[${type}]`;
}

function methodsOf(
  method: string,
  path: string,
  operation: DocumentedOperation,
  types: TypeWriter,
): string[] {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const name = nameOf(path.replace('/quote', '/{id}/quote'), operationId);
  const statuses = Object.keys(responses).filter((status) => status.startsWith('2'));
  const created = statuses.includes('201') ? '201' : statuses[0];
  const answer = answerOf(responses[created ?? ''], types, pascal(operationId));
  const takesKey = parameters.some((parameter) => parameter.name === 'Idempotency-Key');
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const hasId = path.includes('{id}');
  const body = requestBody?.content?.['application/json'].schema;
  const bodyType = body === undefined ? null : types.typeOf(body, `${pascal(operationId)}Request`);
  const options = [
    ...query.map(({ name: key, required, schema }) => {
      const type = queryType(schema, types.typeOf(schema.items ?? schema, pascal(key)));
      return required === true ? `${key}: ${type}` : `${key}: ${type} | None = None`;
    }),
    ...(takesKey ? ['idempotency_key: str | None = None'] : []),
  ];
  const signature = [
    'self',
    ...(hasId ? ['id: str'] : []),
    ...(bodyType === null ? [] : [`request: ${bodyType}`]),
    ...(options.length === 0 ? [] : ['*', ...options]),
  ].join(', ');
  const target = hasId ? `self._at("${path}", id)` : `"${path}"`;
  const sent = [
    ...(query.length === 0
      ? []
      : [`query={${query.map(({ name: key }) => `"${key}": ${key}`).join(', ')}}`]),
    ...(bodyType === null ? [] : ['body=request']),
    ...(takesKey ? ['key=self._key(idempotency_key)'] : []),
  ];
  const call = [`"${method}"`, target, ...sent].join(', ');
  const shown = `${sentence(summary)}\n\n        ${sentence(description).replace(/\n(?=.)/g, '\n        ')}\n        `;
  const returns = answer.kind === 'list' ? `ListOf[${answer.type}]` : answer.type;
  const result = {
    list: `return self._list(${[target, ...sent].join(', ')})`,
    data: `return self._send(${call})["data"]`,
    whole: `return self._send(${call})`,
    nothing: `self._send(${call})`,
  }[answer.kind];
  const write = (as: string, returned: string, ...lines: string[]) =>
    `    def ${as}(${signature}) -> ${returned}:\n        """${shown}"""\n${lines
      .map((line) => `        ${line}`)
      .join('\n')}\n`;
  // A request with dry_run has an answer of its own.
  const checked = statuses.find((status) => status !== created);
  if (checked === undefined) return [write(name, returns, result)];
  const check = answerOf(responses[checked], types, pascal(operationId));
  const dry = result.replace('body=request', 'body={**request, "dry_run": True}');
  return [
    write(
      name,
      returns,
      'if request.get("dry_run"):',
      '    raise TypeError("Use check() for a request with dry_run.")',
      result,
    ),
    write('check', check.type, dry),
  ];
}
