/** The error envelope (the specification, "Errors"; decisions/api#errors). */
import { type TSchema, Type } from 'typebox';
import { type ErrorCode, errorEntry } from '../../domain/errors';
import { Id, OneOf, Shape } from './common';

/** The path of the page about an error code. */
export function errorPagePath(code: ErrorCode): string {
  return `/docs/errors/${code}`;
}

/** The body of all refusals: one schema, because generators cannot tell two apart by a code within. */
export function errorObjectOf(codes: readonly ErrorCode[]): TSchema {
  const error = Shape(
    {
      code: OneOf(codes, 'The error code'),
      message: Type.String({ description: 'What is wrong and what to do' }),
      details: Type.Optional(detailsOf(codes)),
      request_id: Id('request'),
      doc_url: Type.String({ format: 'uri', description: 'A page about this error code' }),
    },
    'What is wrong',
  );
  return Shape({ error }, 'An error');
}

/** The members that the details of these codes have. One that is a text for one code and a number for another is left out. */
function detailsOf(codes: readonly ErrorCode[]): TSchema {
  const members = new Map<string, { schemas: object[]; of: ErrorCode[] }>();
  for (const code of codes) {
    for (const [name, schema] of Object.entries(propertiesOf(code))) {
      const { schemas, of } = members.get(name) ?? { schemas: [], of: [] };
      members.set(name, { schemas: [...schemas, open(schema)], of: [...of, code] });
    }
  }
  const properties = [...members].flatMap(([name, { schemas, of }]) => {
    const schema = common(schemas);
    if (schema === null) return [];
    return [
      [name, Type.Optional(Type.Unsafe({ ...schema, description: `With ${of.join(', ')}` }))],
    ];
  });
  return Type.Object(Object.fromEntries(properties) as Record<string, TSchema>, {
    additionalProperties: true,
    description: 'What is known beside the code; the page about the code names its members',
  });
}

/** What the schemas of a member have in common. */
function common(schemas: readonly object[]): object | null {
  const [first = {}] = schemas;
  if (schemas.every((one) => shapeOf(one) === shapeOf(first))) return first;
  const types = new Set(schemas.flatMap((one) => (one as { type: string | string[] }).type));
  const isText = [...types].every((type) => type === 'string' || type === 'null');
  return isText ? { type: types.size === 1 ? 'string' : [...types] } : null;
}

function propertiesOf(code: ErrorCode): Record<string, object> {
  const { details }: { details?: { properties?: Record<string, object> } } = errorEntry(code);
  return details?.properties ?? {};
}

function shapeOf(schema: object): string {
  return JSON.stringify({ ...schema, description: null });
}

/** The schema with choices that a later version may add to, as `OneOf` writes them. */
function open(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) =>
    typeof value === 'object' && value !== null && 'enum' in value
      ? OneOf(value.enum as string[], (value as { description?: string }).description ?? '')
      : value,
  ) as object;
}
