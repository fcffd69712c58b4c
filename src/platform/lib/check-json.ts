/**
 * Checks JSON that somebody else wrote against a typebox schema. Each part of the schema says in its
 * `description` what it must be, such as `must be a URL`; the first fault is reported in these words.
 */
import type { Static, TSchema } from 'typebox';
import { Errors } from 'typebox/value';

/** The first fault of a JSON value. */
export interface JsonFault {
  /** `.networks[0].mode`; empty for the whole value. */
  at: string;
  /** `must be "test" or "live"` */
  rule: string;
}

/** @throws what `refuse` makes of the first fault */
export function checkJson<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  refuse: (fault: JsonFault) => Error,
): Static<Schema> {
  const [error] = Errors(schema, value);
  if (error === undefined) return value as Static<Schema>;
  const { keyword, instancePath, schemaPath, params } = error as SchemaError;
  const missing = keyword === 'required' ? params.requiredProperties?.[0] : undefined;
  const at = missing === undefined ? instancePath : `${instancePath}/${missing}`;
  const part = missing === undefined ? schemaPath : `${schemaPath}/properties/${missing}`;
  throw refuse({ at: fieldName(at), rule: ruleOf(keyword, params, descriptionAt(schema, part)) });
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: { requiredProperties?: readonly string[]; message?: string };
}

function ruleOf(keyword: string, { message }: SchemaError['params'], described: string): string {
  // Members beyond those of a closed object have the schema `false`.
  if (keyword === 'boolean') return 'is not a known field';
  return keyword === '~refine' && message !== undefined ? message : described;
}

/** The description that stands nearest to a part of the schema: a union describes its variants. */
function descriptionAt(schema: TSchema, path: string): string {
  let part: Record<string, unknown> | undefined = schema as Record<string, unknown>;
  let description = 'is not valid';
  for (const name of ['', ...path.split('/').slice(1)]) {
    if (name !== '') part = part?.[name] as Record<string, unknown> | undefined;
    if (typeof part?.description === 'string') description = part.description;
  }
  return description;
}

/** `/networks/0/mode` → `.networks[0].mode` */
function fieldName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => (/^[0-9]+$/.test(name) ? `[${name}]` : `.${name}`))
    .join('')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}
