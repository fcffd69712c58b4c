/** Flattens a schema into the rows of a table for people: one for each member, parents first. */
import type { TSchema } from 'typebox';

export interface FieldRow {
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

export function listFields(schema: TSchema): FieldRow[] {
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
