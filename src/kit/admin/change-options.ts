/** The fields of a change (kit/service/change.ts) as options of a verb, and the options' values as its input. */
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { wholeNumber } from '../../platform/lib/command-line';
import type { Field } from '../service/change';
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
    const preset = defaults[name as keyof typeof defaults] as string | string[] | undefined;
    const isLeftOut = field.without !== undefined || Type.IsOptional(field);
    verb.addOption(
      preset === undefined
        ? option.makeOptionMandatory(!isLeftOut)
        : option.default(preset, String(preset)),
    );
  }
}

export function inputOf<Properties extends TProperties>(
  { fields }: { fields: Properties },
  options: object,
): Static<TObject<Properties>> {
  const given = options as Readonly<Record<string, unknown>>;
  const input = Object.entries(fields).flatMap(([name, field]) => {
    const none = Type.IsArray(field) && !Type.IsOptional(field) ? [] : undefined;
    const value = given[name] ?? none;
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(input) as Static<TObject<Properties>>;
}

export function flagOf(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function helpOf({ label, hint, without, choices, options }: Field): string {
  const named = options?.map(([value, name]) => `${value} (${inSentence(name)})`).join(', ');
  const values = choices === undefined ? (named ?? hint) : `all, or some of ${choices.join(', ')}`;
  return (
    inSentence(label) +
    (values === undefined ? '' : `: ${inSentence(values)}`) +
    (without === undefined ? '' : ` (default: ${without})`)
  );
}

/** Names such as URL keep their capitals. */
function inSentence(text: string): string {
  return /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

function readerOf(field: Field): { value: string; parse: (text: string) => unknown } {
  const { choices, options, all, minimum = 0, maximum = 0, format, value = 'TEXT' } = field;
  if (choices !== undefined) {
    const parse = (names: string) =>
      names === 'all' && all === undefined ? [...choices] : list(names);
    return { value: 'A,B', parse };
  }
  if (options !== undefined) {
    const known = options.map(([one]) => one);
    const parse = (given: string) => {
      if (known.includes(given)) return given;
      throw new InvalidArgumentError(`Allowed choices are ${known.join(', ')}.`);
    };
    return { value, parse };
  }
  if (Type.IsArray(field)) return { value: 'A,B', parse: list };
  if (Type.IsInteger(field)) return { value: 'N', parse: wholeNumber(minimum, maximum) };
  return format === 'date-time' ? { value: 'TIME', parse: isoTime } : { value, parse: text };
}
