/**
 * A change that a person makes is defined once: the action that the audit log names, who may make it on a
 * page, the fields that the person fills in, and `run`, which makes it in one transaction and says
 * what it was. The pages and the admin command bind to the definition and repeat nothing of it:
 *
 *     const createKey = defineChange({ action: 'api_key.create', access, fields: { name: Text(...) }, run });
 *     <ChangeFields change={createKey} form={form} />       draws the fields (src/kit/pages/change-form.tsx)
 *     readFields(createKey, form)                           reads them from the sent form
 *     addFields(verb, createKey)                            the same fields as options (src/kit/admin/change-options.ts)
 *     createKey.make(db, by, { accountId, mode }, input)    checks the input, runs, writes the audit row
 *
 * A field is a TypeBox schema with the words for a person; its limits hold on every surface because `make`
 * checks them. Its input is JSON, so that a change can be proposed now and run after an approval. The
 * subject is what the surface already knows: the account and mode of a page, the id of an object. `run` can be
 * called inside another transaction, such as that of an approval.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { Errors, Pointer } from 'typebox/value';
import { appendAudit } from '../../db/audit/audit-log';
import type { Db, Tx } from '../../db/transaction';
import { isPrintable } from '../../domain/printable';
import type { Permission } from '../../domain/users';
import { type AuditedObject, type ChangedBy, makeChange } from './audit';
import { InputFaults, type InputProblem, InvalidInput } from './refusal';

export interface Change<Fields extends TProperties, Subject, Result> {
  action: string;
  /** The permissions of a page's visitor; an operator of the admin command may make every change. */
  access: { needs: Permission; liveNeeds?: Permission };
  fields: Fields;
  /**
   * Reads a field before the transaction, beyond what its schema says, such as looking an address up. The
   * faults of all fields are reported together.
   */
  prepare?: {
    [Name in keyof Fields]?: (
      value: NonNullable<Static<Fields[Name]>>,
      db: Db,
      subject: Subject,
    ) => Promise<Static<Fields[Name]>> | Static<Fields[Name]>;
  };
  run: (
    tx: Tx,
    subject: Subject,
    input: Static<TObject<Fields>>,
    by: ChangedBy,
  ) => Promise<{ result: Result; audit: Omit<AuditedObject, 'action'> }>;
  /** Runs after the transaction, to tell a workflow what the rows already say. */
  after?: (db: Db, subject: Subject) => Promise<void>;
}

export function defineChange<Fields extends TProperties, Subject, Result>(
  change: Change<Fields, Subject, Result>,
) {
  const schema = Type.Object(change.fields);
  type Input = Static<TObject<Fields>>;
  const run = async (tx: Tx, by: ChangedBy, subject: Subject, checked: Input) => {
    const { result, audit } = await change.run(tx, subject, checked, by);
    return { result, audit: { action: change.action, ...audit } };
  };
  /**
   * Makes the change in the caller's transaction, such as that of an approval. The caller writes the audit
   * row.
   */
  const apply = (tx: Tx, by: ChangedBy, subject: Subject, input: Input) =>
    run(tx, by, subject, checkInput(schema, input));
  /**
   * Checks the input and makes it what `apply` takes, before the transaction because it may take time.
   * @throws InvalidInput
   */
  const check = async (db: Db, subject: Subject, input: Input): Promise<Input> => {
    const faults = new InputFaults();
    const checked: Record<string, unknown> = trimmed(input);
    addSchemaFaults(schema, checked, faults);
    for (const [name, read] of Object.entries(change.prepare ?? {})) {
      if (checked[name] === undefined || faults.has(name)) continue;
      checked[name] = await faults.read(() => (read as ReadField)(checked[name], db, subject));
    }
    faults.refuse();
    return checked as Input;
  };
  return {
    ...change,
    apply,
    check,
    /** As `apply`, and writes the audit row. */
    makeIn: async (tx: Tx, by: ChangedBy, subject: Subject, input: Input) => {
      const { result, audit } = await apply(tx, by, subject, input);
      await appendAudit(tx, { ...by, ...audit });
      return result;
    },
    /** @throws InvalidInput, and what `run` throws */
    make: async (db: Db, by: ChangedBy, subject: Subject, input: Input) => {
      const checked = await check(db, subject, input);
      const result = await makeChange(db, by, (tx) => run(tx, by, subject, checked));
      await change.after?.(db, subject);
      return result;
    },
  };
}

export type InputOf<C extends { fields: TProperties }> = Static<TObject<C['fields']>>;

/** What a person reads about a field. */
export interface Words {
  label: string;
  hint?: string;
  /** What applies when the field is left out: `120`, `no expiry`. */
  without?: string;
  /** How the help of an option names the value, such as `AMOUNT`; `TEXT` if it is missing. */
  value?: string;
  placeholder?: string;
  inputType?: 'url';
  /** Its entries are a currency and an amount, such as `USDT=500`. */
  pairs?: true;
}

/** The annotations that the surfaces read. */
export type Field = TSchema &
  Words & {
    options?: readonly (readonly [value: string, name: string])[];
    choices?: readonly string[];
    /** The name of the choice `all` on a page. */
    all?: string;
    format?: string;
    maxLength?: number;
    minimum?: number;
    maximum?: number;
  };

/** One line, without spaces around it. */
export function Text(maxLength: number, words: Words, { mayBeEmpty = false } = {}) {
  return Type.Refine(
    Type.String({ ...words, minLength: mayBeEmpty ? 0 : 1, maxLength }),
    (text) => text === '' || isPrintable(text),
    () => 'not_printable',
  );
}

export function Count(minimum: number, maximum: number, words: Omit<Words, 'hint'>) {
  return Type.Integer({ ...words, minimum, maximum, hint: `${minimum} to ${maximum}` });
}

/** One of some values, each with its name for a person. */
export function Choice<Value extends string>(
  options: readonly (readonly [value: Value, name: string])[],
  words: Words,
) {
  const values = options.map(([value]) => value);
  return Type.Unsafe<Value>(Type.String({ ...words, enum: values, options }));
}

/** Some of a list of names. @param all what a page calls `all`, if that is more than each of them */
export function Choices<Name extends string>(choices: readonly Name[], words: Words, all?: string) {
  const names = all === undefined ? choices : ['all', ...choices];
  const schema = Type.Array(Type.Unsafe<Name | 'all'>(Type.String({ enum: [...names] })), {
    ...words,
    choices,
    ...(all === undefined ? {} : { all }),
    minItems: 1,
  });
  return Type.Refine(
    schema,
    (chosen) => chosen.length < 2 || !chosen.includes('all'),
    () => 'all_and_some',
  );
}

/** A list of texts, which `run` checks. */
export function List(words: Words) {
  return Type.Array(Type.String(), { ...words });
}

/** A time in ISO 8601. */
export function Time(words: Words) {
  return Type.String({ ...words, format: 'date-time' });
}

/** The audit entry of an object from its states, as the admin command shows them. */
export function auditOf<T extends { id: string; accountId: string | null }>(
  present: (object: T) => { object: string },
  before: T | null,
  after: T,
) {
  const shown = present(after);
  return {
    object: shown.object,
    objectId: after.id,
    accountId: after.accountId,
    before: before === null ? null : present(before),
    after: shown,
  };
}

type ReadField = (value: unknown, db: Db, subject: unknown) => unknown;

/** The input with texts trimmed. @throws InvalidInput about every field that is wrong */
function checkInput<Fields extends TProperties>(
  schema: TObject<Fields>,
  input: Static<TObject<Fields>>,
): Static<TObject<Fields>> {
  const faults = new InputFaults();
  const checked = trimmed(input);
  addSchemaFaults(schema, checked, faults);
  faults.refuse();
  return checked as Static<TObject<Fields>>;
}

function trimmed(input: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value]),
  );
}

function addSchemaFaults(
  schema: TObject,
  input: Record<string, unknown>,
  faults: InputFaults,
): void {
  for (const error of Errors(schema, input)) {
    const [, at = ''] = error.instancePath.split('/');
    const fields = error.keyword === 'required' ? error.params.requiredProperties : [at];
    const value = Pointer.Get(input, error.instancePath);
    for (const field of fields) {
      const known = schema.properties[field] as Field | undefined;
      faults.add(new InvalidInput(field, problemOf(error, value, known)));
    }
  }
}

function problemOf(
  { keyword }: ReturnType<typeof Errors>[number],
  value: unknown,
  field: Field | undefined,
): InputProblem {
  const known = field?.choices ?? [];
  switch (keyword) {
    case 'maxLength':
      return { code: 'too_long', length: String(value).length, max: field?.maxLength ?? 0 };
    case '~refine':
      return { code: field?.all === undefined ? 'not_printable' : 'all_and_some' };
    case 'minItems':
      return { code: 'none_chosen' };
    case 'enum':
      if (field?.options !== undefined) {
        const values = field.options.map(([one]) => one);
        return { code: 'not_a_choice', value: String(value), known: values };
      }
      return { code: 'unknown_name', value: String(value), known };
    case 'minLength':
    case 'required':
      return { code: 'empty' };
    case 'format':
      return { code: 'not_a_date', value: String(value) };
    default: {
      const { minimum: min = 0, maximum: max = 0 } = field ?? {};
      return { code: 'out_of_range', value: String(value), min, max };
    }
  }
}
