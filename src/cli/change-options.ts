/** The fields of a change (services/change.ts) as options of a verb, and the options' values as its input. */
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { wholeNumber } from '../lib/command-line';
import type { Field } from '../services/change';
import { isoTime, list, text } from './options';

/** @param defaults for fields that a page requires and the command does not */
export function addFields<Properties extends TProperties>(
  verb: CommandUnknownOpts,
  { fields }: { fields: Properties },
  defaults: Partial<Static<TObject<Properties>>> = {},
): void {
  for (const [name, schema] of Object.entries(fields)) {
    const field = schema as Field;
    const { value, parse } = readerOf(field);
    const option = new Option(`${flagOf(name)} <${value}>`, helpOf(field)).argParser(parse);
    const preset: unknown = defaults[name as keyof typeof defaults];
    const isLeftOut = field.without !== undefined || Type.IsOptional(field);
    verb.addOption(
      preset === undefined ? option.makeOptionMandatory(!isLeftOut) : option.default(preset),
    );
  }
}

export function inputOf<Properties extends TProperties>(
  { fields }: { fields: Properties },
  options: object,
): Static<TObject<Properties>> {
  const given = options as Readonly<Record<string, unknown>>;
  const input = Object.entries(fields).map(([name, field]) => [
    name,
    given[name] ?? (Type.IsArray(field) ? [] : undefined),
  ]);
  return Object.fromEntries(input) as Static<TObject<Properties>>;
}

export function flagOf(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function helpOf({ label, hint, without, choices }: Field): string {
  const name = label.charAt(0).toLowerCase() + label.slice(1);
  const values = choices === undefined ? hint : `all, or some of ${choices.join(', ')}`;
  return (
    name +
    (values === undefined ? '' : `: ${values.charAt(0).toLowerCase()}${values.slice(1)}`) +
    (without === undefined ? '' : ` (default: ${without})`)
  );
}

function readerOf(field: Field): { value: string; parse: (text: string) => unknown } {
  const { choices, minimum = 0, maximum = 0, format, value = 'TEXT' } = field;
  if (choices !== undefined) {
    return { value: 'A,B', parse: (names) => (names === 'all' ? [...choices] : list(names)) };
  }
  if (Type.IsArray(field)) return { value: 'A,B', parse: list };
  if (Type.IsInteger(field)) return { value: 'N', parse: wholeNumber(minimum, maximum) };
  return format === 'date-time' ? { value: 'TIME', parse: isoTime } : { value, parse: text };
}
