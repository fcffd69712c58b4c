/** The fields of a change (kit/service/change.ts) as the controls of a form, and what was sent as its input. */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import type { Field as FieldOfChange } from '../service/change';
import { Choices, Field, type FormState, Pairs, readPairs, Select } from './forms';

interface Fields<Properties> {
  fields: Properties;
}

interface ChangeFieldsProps {
  change: Fields<TProperties>;
  form: FormState;
}

export function ChangeFields({ change, form }: ChangeFieldsProps) {
  const fields = Object.entries(change.fields) as [string, FieldOfChange][];
  const hints = fields.map(([, field]) => hintOf(field));
  return (
    <>
      {fields.map(([name, field], index) => {
        // Fields that follow each other say the same thing once.
        const hint = hints[index] === hints[index - 1] ? undefined : hints[index];
        return <ChangeField name={name} field={field} hint={hint} form={form} />;
      })}
    </>
  );
}

function ChangeField(props: {
  name: string;
  field: FieldOfChange;
  hint: string | undefined;
  form: FormState;
}) {
  const { name, field, hint, form } = props;
  const { label, placeholder, choices, all, format, maxLength, inputType = 'text' } = field;
  if (field.pairs === true) return <Pairs name={name} label={label} hint={hint} form={form} />;
  if (choices !== undefined) {
    const single = choices.map((choice) => [choice, choice] as const);
    const options = all === undefined ? single : [['all', all] as const, ...single];
    return (
      <Choices
        name={name}
        label={label}
        hint={hint}
        form={form}
        options={options}
        preset={['all']}
      />
    );
  }
  if (field.options !== undefined) {
    return <Select name={name} label={label} hint={hint} form={form} options={field.options} />;
  }
  if (format === 'date-time') {
    const day = `${label} at the end of (UTC)`;
    return <Field name={name} label={day} hint={hint} type="date" form={form} />;
  }
  return (
    <Field
      name={name}
      label={label}
      hint={hint}
      placeholder={placeholder}
      type={inputType}
      form={form}
      required={!Type.IsOptional(field) && !Type.IsArray(field)}
      maxLength={maxLength}
    />
  );
}

function hintOf({ hint, without, options }: FieldOfChange): string | undefined {
  // The control of options cannot be left empty.
  const canBeEmpty = without !== undefined && options === undefined;
  const sentences = [
    ...(hint === undefined ? [] : [`${hint}.`]),
    ...(canBeEmpty ? [`Leave empty for ${without}.`] : []),
  ];
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** The input of the change, which its `make` checks. A text that cannot be read stays as it was sent. */
export function readFields<Properties extends TProperties>(
  { fields }: Fields<Properties>,
  form: URLSearchParams,
): Static<TObject<Properties>> {
  const input = Object.entries(fields).map(([name, field]) => [
    name,
    (field as FieldOfChange).pairs === true
      ? readPairs(form, name).map((pair) => pair.join('='))
      : readField(field as FieldOfChange, form.getAll(name)),
  ]);
  return Object.fromEntries(input) as Static<TObject<Properties>>;
}

function readField(field: FieldOfChange, sent: string[]): unknown {
  if (field.choices !== undefined) return sent;
  const text = (sent[0] ?? '').trim();
  if (Type.IsArray(field)) return text.split(/[\s,]+/).filter((entry) => entry !== '');
  if (text === '' && Type.IsOptional(field)) return undefined;
  if (Type.IsInteger(field)) return /^\d{1,9}$/.test(text) ? Number(text) : text;
  return field.format === 'date-time' ? endOfDay(text) : text;
}

function endOfDay(day: string): string {
  const at = new Date(`${day}T23:59:59.000Z`);
  // The parser takes 30 February for 2 March.
  const isDay = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${day}T`);
  return isDay ? at.toISOString() : day;
}

/** What is in force, as the form's values. */
export function valuesOf<Properties extends TProperties>(
  { fields }: Fields<Properties>,
  input: Static<TObject<Properties>>,
): URLSearchParams {
  return new URLSearchParams(
    entriesOf(fields, input).flatMap(([name, field, texts]) => {
      if (field.choices !== undefined) return texts.map((text) => [name, text]);
      const text = texts.join(', ');
      return [[name, field.format === 'date-time' ? text.slice(0, 'YYYY-MM-DD'.length) : text]];
    }),
  );
}

/** What is in force, for people: the label of each field and its value in words. */
export function rowsOf<Properties extends TProperties>(
  { fields }: Fields<Properties>,
  input: Static<TObject<Properties>>,
): [label: string, text: string][] {
  return entriesOf(fields, input).map(([, { label, without = '', options, pairs }, texts]) => {
    const words = texts.map((text) => {
      if (pairs === true) return text.split('=').reverse().join(' ');
      return options?.find(([one]) => one === text)?.[1] ?? text;
    });
    const nothing = without.charAt(0).toUpperCase() + without.slice(1);
    return [label, words.length === 0 ? nothing : words.join(', ')];
  });
}

/** Each field with the texts of its value; none if it is left out. */
function entriesOf(
  fields: TProperties,
  input: object,
): [name: string, field: FieldOfChange, texts: string[]][] {
  const values = input as Record<string, string | number | string[] | undefined>;
  return Object.entries(fields).map(([name, field]) => {
    const value = values[name] ?? [];
    return [name, field as FieldOfChange, Array.isArray(value) ? value : [String(value)]];
  });
}
