/** Forms and what they are made of. Everything works without JavaScript. */
import type { ComponentChildren } from 'preact';
import { AdminRefusal, InvalidInput } from '../service/refusal';
import { Icon } from './icon';
import { decimalStyleOf, plainAmount } from './sheet';

export interface FormState {
  /** The values that were sent. */
  values: URLSearchParams;
  /** By field. */
  errors: Readonly<Record<string, string>>;
}

export const EMPTY_FORM: FormState = { values: new URLSearchParams(), errors: {} };

/** What the person had typed before a sign-in came in between. */
export function draftForm({ draft }: { draft: URLSearchParams | null }): FormState {
  return draft === null ? EMPTY_FORM : { ...EMPTY_FORM, values: draft };
}

interface NamedProps {
  name: string;
  /** The id of the control, where a page has two forms with the same field. */
  id?: string | undefined;
  hint?: ComponentChildren;
  form: FormState;
}

interface LabelledProps extends NamedProps {
  label: string;
  /** The control, with `attributes`. */
  children: ComponentChildren;
}

/** A control with its label above, its hint and its error below. */
function Labelled({ name, id = `field-${name}`, label, hint, form, children }: LabelledProps) {
  const error = form.errors[name];
  return (
    <div class="form-field" data-invalid={error === undefined ? undefined : 'true'}>
      <label class="label" for={id}>
        {label}
      </label>
      {children}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  );
}

/** What ties a control to its label, its hint and its error. */
function attributes({ name, id = `field-${name}`, hint, form }: NamedProps) {
  const isInvalid = form.errors[name] !== undefined;
  const described = [hint === undefined ? [] : `${id}-hint`, isInvalid ? `${id}-error` : []].flat();
  return {
    id,
    name,
    'aria-invalid': isInvalid ? ('true' as const) : undefined,
    'aria-describedby': described.join(' ') || undefined,
  };
}

interface FieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  form: FormState;
  type?: 'text' | 'email' | 'password' | 'url' | 'date' | 'datetime-local' | 'time';
  required?: boolean;
  value?: string;
  autocomplete?: string;
  placeholder?: string | undefined;
  maxLength?: number | undefined;
  autofocus?: boolean;
}

export function Field({ name, label, hint, form, type = 'text', value, ...rest }: FieldProps) {
  const shown = type === 'password' ? undefined : (form.values.get(name) ?? value);
  return (
    <Labelled name={name} label={label} hint={hint} form={form}>
      <input
        class="input"
        {...attributes({ name, hint, form })}
        // Preact has a type of its own for each kind of input.
        {...({ type } as { type: 'text' })}
        value={shown}
        {...rest}
      />
    </Labelled>
  );
}

interface TextAreaProps {
  name: string;
  label: string;
  hint?: string;
  form: FormState;
  required?: boolean;
  value?: string;
  /** Its lines are rows, which are not broken. */
  isTable?: boolean;
}

export function TextArea(props: TextAreaProps) {
  const { name, label, hint, form, value, required = false, isTable = false } = props;
  return (
    <Labelled name={name} label={label} hint={hint} form={form}>
      <textarea
        class="textarea"
        {...attributes({ name, hint, form })}
        rows={10}
        spellcheck={false}
        required={required}
        wrap={isTable ? 'off' : undefined}
      >
        {form.values.get(name) ?? value}
      </textarea>
    </Labelled>
  );
}

type FileFieldProps = Pick<FieldProps, 'name' | 'label' | 'hint' | 'form'> & {
  /** The types of the files that the browser offers. */
  accept: string;
};

/** A file that is sent with the form, which must be multipart/form-data. */
export function FileField({ name, label, hint, form, accept }: FileFieldProps) {
  return (
    <Labelled name={name} label={label} hint={hint} form={form}>
      <input
        class="input"
        {...attributes({ name, hint, form })}
        type="file"
        accept={accept}
        required
      />
    </Labelled>
  );
}

/** A table as CSV: pasted, or read from a file by the page's script, so that the person can correct it. */
export function TableField(props: Omit<TextAreaProps, 'name' | 'isTable' | 'required'>) {
  return (
    <>
      <FileInto field="table" hint="Choose a CSV file, or drop it on the table below." />
      <TextArea {...props} name="table" isTable required />
    </>
  );
}

function FileInto({ field, hint }: { field: string; hint: string }) {
  const id = `file-into-${field}`;
  return (
    <div class="form-field js-only">
      <label class="label" for={id}>
        File
      </label>
      <input
        class="input"
        id={id}
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        data-file-into={field}
        aria-describedby={`${id}-hint`}
      />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

interface SentAgainProps {
  values: URLSearchParams;
  fields: readonly string[];
  /** With the table, which the page does not show. */
  table: boolean;
}

/** What was sent, for the next form, which sends it as well. */
export function SentAgain({ values, fields, table }: SentAgainProps) {
  return (
    <>
      {fields.map((name) => (
        <input type="hidden" name={name} value={values.get(name) ?? ''} />
      ))}
      {table ? (
        <textarea name="table" hidden>
          {values.get('table') ?? ''}
        </textarea>
      ) : null}
    </>
  );
}

interface SelectProps {
  name: string;
  id?: string;
  label: string;
  form: FormState;
  options: readonly (readonly [value: string, label: string])[];
  hint?: string | undefined;
}

export function Select({ name, id, label, form, options, hint }: SelectProps) {
  const chosen = form.values.get(name);
  return (
    <Labelled name={name} id={id} label={label} hint={hint} form={form}>
      <select class="input native" {...attributes({ name, id, hint, form })}>
        {options.map(([value, text]) => (
          <option value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

interface ChoicesProps {
  name: string;
  label: string;
  form: FormState;
  options: readonly (readonly [value: string, label: string])[];
  /** Checked before anything was sent. */
  preset?: readonly string[];
  hint?: string | undefined;
}

export function Choices({ name, label, form, options, preset = [], hint }: ChoicesProps) {
  const sent = form.values.getAll(name);
  const chosen = [...form.values.keys()].length === 0 ? preset : sent;
  return (
    <fieldset class="form-field choices">
      <legend class="label">{label}</legend>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      <div class="choice-list">
        {options.map(([value, text]) => (
          <label>
            <input
              class="input"
              type="checkbox"
              name={name}
              value={value}
              checked={chosen.includes(value)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
      <FieldError id={`field-${name}-error`} error={form.errors[name]} />
    </fieldset>
  );
}

/** Empty rows below those that are filled in. */
const EMPTY_PAIRS = 2;

/** Currencies with their amounts, as rows of two fields. */
export function Pairs({
  name,
  label,
  hint,
  form,
}: Pick<ChoicesProps, 'name' | 'label' | 'hint' | 'form'>) {
  const filled = readPairs(form.values, name);
  const rows = [...filled, ...Array.from({ length: EMPTY_PAIRS }, (): string[] => [])];
  return (
    <fieldset
      class="form-field"
      data-invalid={form.errors[name] === undefined ? undefined : 'true'}
    >
      <legend class="label">{label}</legend>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      {rows.map(([currency = '', amount = ''], index) => (
        <div class="pair">
          <input
            class="input"
            name={`${name}.currency`}
            value={currency}
            placeholder="USDT"
            aria-label={`${label}: currency ${index + 1}`}
            autocomplete="off"
            maxLength={20}
          />
          <input
            class="input"
            name={`${name}.amount`}
            value={amount}
            placeholder="500.00"
            aria-label={`${label}: amount ${index + 1}`}
            inputmode="decimal"
            autocomplete="off"
            maxLength={40}
          />
        </div>
      ))}
      <FieldError id={`field-${name}-error`} error={form.errors[name]} />
    </fieldset>
  );
}

/** The rows that are filled in, or the text `USDT=500, BTC=0.01` as which a page has stored ones. */
export function readPairs(values: URLSearchParams, name: string): string[][] {
  const currencies = values.getAll(`${name}.currency`);
  const amounts = values.getAll(`${name}.amount`);
  if (currencies.length > 0) {
    return currencies.flatMap((text, index) => {
      const [currency, amount] = [text.trim().toUpperCase(), (amounts[index] ?? '').trim()];
      return currency === '' && amount === '' ? [] : [[currency, plainNumber(amount)]];
    });
  }
  return (values.get(name) ?? '').split(/[\s,]+/).flatMap((text) => {
    const [currency = '', ...amount] = text.split('=');
    if (text === '') return [];
    const short = amount.map((digits) => digits.replace(/(\.\d{2}\d*?)0+$/, '$1'));
    return [[currency, ...short]];
  });
}

/** A number with a decimal comma or point; what can be read in two ways stays as it was typed. */
export function plainNumber(text: string): string {
  return plainAmount(text, decimalStyleOf([text])) ?? text;
}

function FieldError({ id, error }: { id: string; error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p class="field-error" id={id} role="alert">
      {error}
    </p>
  );
}

interface FormActionsProps {
  submit: string;
  /** Where Cancel leads. */
  cancel: string;
}

export function FormActions({ submit, cancel }: FormActionsProps) {
  return (
    <div class="actions">
      <button class="btn">{submit}</button>
      <a class="btn" data-variant="ghost" href={cancel}>
        Cancel
      </a>
    </div>
  );
}

/** A button that changes something. */
interface ActionProps {
  action: string;
  label: string;
  icon?: string;
  variant?: 'outline' | 'destructive' | 'primary';
  hidden?: Readonly<Record<string, string>>;
}

export function Action({ action, label, icon, variant = 'outline', hidden = {} }: ActionProps) {
  return (
    <form method="post" action={action} class="inline">
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button class="btn" data-variant={variant}>
        {icon === undefined ? null : <Icon name={icon} />}
        {label}
      </button>
    </form>
  );
}

interface ConfirmProps {
  action: string;
  label: string;
  icon: string;
  /** What happens, for somebody who clicked by mistake. */
  effect: ComponentChildren;
  /** On the second button, such as `Delete this endpoint`. */
  confirm: string;
  /** Red is for what harms when it is clicked by mistake. */
  variant?: 'destructive' | 'primary';
  hidden?: Readonly<Record<string, string>>;
}

/** An action that cannot be undone: the first click explains it, the second does it. */
export function Confirm(props: ConfirmProps) {
  const { action, label, icon, effect, confirm, variant = 'destructive', hidden = {} } = props;
  return (
    <details class="confirm">
      <summary class="btn" data-variant="outline">
        <Icon name={icon} />
        {label}
      </summary>
      <div class="confirm-body">
        <p>{effect}</p>
        <form method="post" action={action}>
          {Object.entries(hidden).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <button class="btn" data-variant={variant}>
            {confirm}
          </button>
        </form>
      </div>
    </details>
  );
}

/**
 * Runs a change; an invalid field becomes the message below it.
 * @param accountField the field that names an account, which may not exist
 */
export async function fieldErrors<Result>(
  change: () => Promise<Result>,
  accountField: string | null = null,
): Promise<{ answer: Result; fields: null } | { answer: null; fields: Record<string, string> }> {
  try {
    return { answer: await change(), fields: null };
  } catch (error) {
    if (accountField !== null && error instanceof AdminRefusal) {
      const { refusal } = error;
      if (refusal.code === 'not_found' && refusal.object === 'account') {
        return { answer: null, fields: { [accountField]: 'This account does not exist.' } };
      }
    }
    if (!(error instanceof InvalidInput)) throw error;
    const faults = error.faults.map(({ field, message }) => [field, message] as const);
    return { answer: null, fields: Object.fromEntries(faults) };
  }
}
