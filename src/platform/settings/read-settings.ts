/** Reads variables by their rows in the table of settings, whose kinds give the values their types. */
import { InvalidText, type Kind, NONE } from './setting-kinds';
import { type Environment, type ProgramName, ROWS, type Setting, SETTINGS } from './settings';
import { invalidEnvironment, SetupError } from '../lib/setup-error';

type Table = typeof SETTINGS;
type Parsed<Row> = Row extends { kind: Kind<infer Value> } ? Value : never;

/** The settings that this module reads. */
export type SettingName = {
  [Name in keyof Table]: Table[Name]['kind'] extends null ? never : Name;
}[keyof Table];

/** `ONCHAIN` of `ONCHAIN_TEST_URL`. */
export type ProviderPrefix = SettingName extends infer Name
  ? Name extends `${infer Prefix}_TEST_CALLS_PER_SECOND`
    ? Prefix
    : never
  : never;

/** Null is a setting that is not set and has no default. */
export type Settings = {
  [Name in SettingName]: Table[Name] extends { otherwise: unknown } | { required: 'always' }
    ? Parsed<Table[Name]>
    : Parsed<Table[Name]> | null;
};

type NameOf<Program extends ProgramName> = {
  [Name in SettingName]: Program extends Table[Name]['programs'][number] ? Name : never;
}[SettingName];

export type SettingsOf<Program extends ProgramName> = Pick<Settings, NameOf<Program>>;

/** The settings of a program. */
export function settingsOf<Program extends ProgramName>(program: Program): NameOf<Program>[] {
  const own = ROWS.filter(([, { kind, programs }]) => kind !== null && programs.includes(program));
  return own.map(([name]) => name) as NameOf<Program>[];
}

/**
 * @param faults what else is wrong with the environment
 * @throws SetupError that lists everything missing or invalid
 */
export function readSettings<Name extends SettingName>(
  names: readonly Name[],
  env: Environment,
  faults: readonly string[] = [],
): Pick<Settings, Name> {
  const values = names.map((name) => [name, attempt(() => readSetting(name, env))] as const);
  const refused = values.flatMap(([, { fault }]) => (fault === undefined ? [] : [fault]));
  if (refused.length + faults.length > 0) throw invalidEnvironment([...refused, ...faults]);
  return Object.fromEntries(values.map(([name, { value }]) => [name, value])) as Pick<
    Settings,
    Name
  >;
}

/** @throws SetupError when it is missing or invalid */
export function readSetting<Name extends SettingName>(
  name: Name,
  env: Environment,
): Settings[Name] {
  const row: Setting = SETTINGS[name];
  if (textOf(name, env) === null && isRequired(row, env)) {
    throw new SetupError(
      `${name} is not set. Set it to ${row.setTo ?? row.kind?.form ?? 'a text'}.`,
    );
  }
  const otherwise = typeof row.otherwise === 'function' ? row.otherwise(env) : row.otherwise;
  return parse(name, textOf(name, env) ?? otherwise ?? null) as Settings[Name];
}

/**
 * Reads what a command can do without: null when it is not set, whatever the row says.
 * @throws SetupError when it is invalid
 */
export function findSetting<Name extends SettingName>(
  name: Name,
  env: Environment,
): Settings[Name] | null {
  return parse(name, textOf(name, env)) as Settings[Name] | null;
}

/** The fault instead of the SetupError that is thrown. */
export function attempt<Value>(read: () => Value): { value?: Value; fault?: string } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { fault: error.message };
  }
}

/** An empty variable is not set. */
export function textOf(name: string, env: Environment): string | null {
  return env[name]?.trim() || null;
}

function parse(name: SettingName, text: string | null): unknown {
  const row: Setting = SETTINGS[name];
  if (text === null || row.kind === null) return null;
  try {
    return row.kind.parse(text);
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    throw new SetupError(`${name} ${error.message}`);
  }
}

function isRequired({ required }: Setting, env: Environment): boolean {
  if (required === undefined || required === 'always') return required === 'always';
  if (required === 'in production') return env['GATEWAY_ENV'] === 'production';
  return ![null, NONE].includes(textOf(required.with, env));
}
