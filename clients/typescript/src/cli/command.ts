/** What a command is, how its arguments are read, and its help. */
import { parseArgs } from 'node:util';
import { UsageError, textOf } from './failure';

export interface Command {
  /** Its words, such as `payouts create`. */
  name: string;
  summary: string;
  /** What follows the words, such as `<id>`. */
  argument?: string;
  options: Options;
  /** Whether it calls the API with a stored key; this adds CONNECTION. */
  connects?: boolean;
  /** More text for its help. */
  more?: string;
  /** Without the name of the program. */
  examples: readonly string[];
  run(run: Run): Promise<void> | void;
}

type Options = Readonly<Record<string, Option>>;

interface Option {
  /** What follows it, such as `<amount>`; absent: nothing. */
  value?: string;
  help: string;
  required?: true;
  /** It can be repeated. */
  many?: true;
}

export interface Run {
  values: Values;
  /** Empty if the command takes none. */
  argument: string;
  asJson: boolean;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

export const PROGRAM = 'payments-gateway';

const CONNECTION: Options = {
  profile: { value: '<name>', help: 'the stored profile (default: default)' },
  key: { value: '<key>', help: 'the API key (default: GATEWAY_API_KEY, then the profile)' },
  'base-url': { value: '<url>', help: 'the API (default: GATEWAY_BASE_URL, then the profile)' },
};

const COMMON: Options = {
  json: { help: 'print JSON; errors are JSON on standard error' },
  help: { help: 'show this help' },
};

type Given = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** The options that were set. */
export class Values {
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  text(name: string): string | undefined {
    const value = this.#given[name];
    return typeof value === 'string' ? value : undefined;
  }

  has(name: string): boolean {
    return this.#given[name] === true;
  }

  texts(name: string): string[] {
    const value = this.#given[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** A whole number. @throws UsageError */
  count(name: string, otherwise: number): number {
    const text = this.text(name);
    if (text === undefined) return otherwise;
    if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
    throw new UsageError(`--${name} must be a whole number from 1 to 999999.`);
  }
}

/** @throws UsageError */
export function readArguments(command: Command, args: string[]): Omit<Run, 'signal'> {
  const options = optionsOf(command);
  const { values, positionals } = parse(options, args);
  const set = new Values(values);
  const [argument = ''] = positionals;
  const unknown = positionals[command.argument === undefined ? 0 : 1];
  if (unknown !== undefined) {
    throw new UsageError(`${PROGRAM} ${command.name} does not take "${unknown}".`);
  }
  if (!set.has('help')) requireAll(command, set, argument);
  return { values: set, argument, asJson: set.has('json') };
}

function parse(options: Options, args: string[]) {
  const known = Object.entries(options).map(([name, { value, many }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, { type, multiple: many === true }] as const;
  });
  try {
    const parsed = parseArgs({
      ...{ args, allowPositionals: true, options: Object.fromEntries(known) },
      tokens: true,
    });
    refuseRepeated(options, parsed.tokens);
    return parsed;
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(textOf(error));
  }
}

/** The last one would count, and the person may mean the first one. @throws UsageError */
function refuseRepeated(
  options: Options,
  tokens: readonly { kind: string; name?: string | undefined }[],
): void {
  const names = tokens.flatMap(({ kind, name }) => (kind === 'option' ? [name ?? ''] : []));
  const repeated = names.find(
    (name, index) => options[name]?.many !== true && names.indexOf(name) !== index,
  );
  if (repeated === undefined) return;
  throw new UsageError(`The option --${repeated} is given more than once. Give it once.`);
}

function requireAll(command: Command, values: Values, argument: string): void {
  if (command.argument !== undefined && argument === '') {
    throw new UsageError(`${PROGRAM} ${command.name} needs ${command.argument}.`);
  }
  for (const [name, { value = '', required }] of Object.entries(command.options)) {
    if (required === true && values.text(name) === undefined) {
      throw new UsageError(`The option --${name} ${value} is required.`);
    }
  }
}

function optionsOf({ options, connects }: Command): Options {
  return { ...options, ...(connects === true ? CONNECTION : {}), ...COMMON };
}

export function helpOf(command: Command): string {
  const { name, argument, summary, more, examples } = command;
  const words = [PROGRAM, name, ...(argument === undefined ? [] : [argument]), '[options]'];
  const options = Object.entries(optionsOf(command)).map(
    ([option, { value, help, required, many }]): [string, string] => [
      `--${option}${value === undefined ? '' : ` ${value}`}`,
      `${help}${required === true ? ' (required)' : ''}${many === true ? ' (can be repeated)' : ''}`,
    ],
  );
  return [
    `Usage: ${words.join(' ')}\n`,
    `${summary}.\n`,
    `Options:\n${aligned(options)}\n`,
    ...(more === undefined ? [] : [`${more}\n`]),
    `Examples:\n${examples.map((example) => `  ${PROGRAM} ${example}`).join('\n')}\n`,
  ].join('\n');
}

/** The help of the program, or of a group such as `payouts`. */
export function helpOfAll(commands: readonly Command[]): string {
  const list = commands.map(({ name, argument, summary }): [string, string] => [
    argument === undefined ? name : `${name} ${argument}`,
    summary,
  ]);
  return `Usage: ${PROGRAM} <command> [options]

Commands:
${aligned(list)}

Add --help to a command for its options and examples, and --json for JSON. --version shows the version.

The API key and the base URL come from --key and --base-url, then from the variables GATEWAY_API_KEY and
GATEWAY_BASE_URL, then from the profile that ${PROGRAM} login has stored.

Exit codes: 0 done, 1 refused by the API, 2 wrong usage, 3 no answer from the gateway.
`;
}

function aligned(lines: readonly [string, string][]): string {
  const width = Math.max(...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
