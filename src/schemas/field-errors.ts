/**
 * From typebox's errors to the API's fields (decision W7): one error per failing field, all at
 * once, each with a sentence that says what to do. The sentences come from the `description` of
 * the schemas, which are noun phrases.
 */
import { Settings } from 'typebox/system';
import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';
import type { FieldError, FieldRule } from '../domain/errors';

type SchemaError = ReturnType<Validator['Errors']>[number];

/** More than a person can correct at once; the default of 8 would hide some of a small body. */
const ERRORS_MAX = 100;
Settings.Set({ maxErrors: ERRORS_MAX });

/** Names of members come from the client and may be as long as the body. */
const NAME_LENGTH_MAX = 100;

export function fieldErrors(validator: Validator, value: unknown): FieldError[] {
  const schema = validator.Type();
  const byField = new Map<string, FieldError>();
  for (const error of validator.Errors(value)) {
    for (const found of translate(schema, error)) {
      // The first is the most basic: a wrong type before a wrong format.
      if (!byField.has(found.field)) byField.set(found.field, found);
    }
  }
  return [...byField.values()];
}

/** The sentence for a field that is missing or unreadable. */
function askFor(field: string, schema: TSchema): string {
  return `Send ${field} as ${describe(schema, field.split('.'))}.`;
}

function translate(schema: TSchema, error: SchemaError): FieldError[] {
  const path = segments(error.instancePath);
  const field = path.join('.');
  const one = (rule: FieldRule, message: string): FieldError[] => [{ field, rule, message }];
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => {
        const missing = [...path, name].join('.');
        return { field: missing, rule: 'required', message: askFor(missing, schema) };
      });
    case 'boolean':
      return one('unsupported', `Remove ${field}: there is no such member here.`);
    case 'additionalProperties':
    case 'propertyNames':
      // Summaries of errors that are also listed one by one.
      return [];
    case 'enum':
      return one(field === 'provider' ? 'unknown_provider' : 'unsupported', askFor(field, schema));
    case 'maxProperties':
      return one('too_long', `Send at most ${error.params.limit} members in ${field}.`);
    case 'maxLength':
      return one(
        'too_long',
        `Shorten ${subject(error, field)} to ${error.params.limit} characters.`,
      );
    case 'minLength':
      return one('too_short', `Do not leave ${subject(error, field)} empty.`);
    case 'pattern':
      return one('format', askFor(field, schema));
    case '~refine':
      // A refinement's message is the name of its rule.
      return one(error.params.message as FieldRule, askFor(field, schema));
    default:
      return one('type', askFor(field, schema));
  }
}

function subject(error: SchemaError, field: string): string {
  return error.schemaPath.includes('/propertyNames') ? `the name of ${field}` : field;
}

/** JSON Pointer to the parts of a field's name. */
function segments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, NAME_LENGTH_MAX));
}

interface Described {
  description?: string;
  properties?: Record<string, Described>;
  patternProperties?: Record<string, Described>;
}

function describe(schema: TSchema, path: string[]): string {
  let here: Described | undefined = schema;
  for (const part of path) {
    here = here?.properties?.[part] ?? Object.values(here?.patternProperties ?? {})[0];
  }
  return here?.description ?? 'the documentation says';
}
