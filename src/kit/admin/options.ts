/** Shared options and parsers, so that all verbs name and read them the same way. */
import {
  type Command,
  InvalidArgumentError,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings';
import { UsageError, wholeNumber } from '../../platform/lib/command-line';
import { PROVIDER_CODES } from '../../domain/provider-codes';
import { parseIsoTime } from '../../domain/iso-time';
import type { CommonOptions, Context, Run } from './context';
import { listOf, showList } from './output';

const LIMIT = 100;
const LIMIT_MAX = 10_000;

export const COMMAND = 'npm run -s admin --';

export interface VerbTexts {
  summary: string;
  /** Further sentences for the help. */
  notes?: string;
  /** Commands without the beginning `npm run -s admin -- `. */
  examples: readonly string[];
}

/** The first example of each verb, for the help of its noun. */
const examplesOf = new WeakMap<Command, string[]>();

export function addNoun(admin: Command, name: string, description: string): Command {
  const lines: string[] = [];
  const noun = admin
    .command(name)
    .description(description)
    .usage('<verb> [options]')
    .helpCommand(false)
    .addHelpText('after', () => ['\nExamples:', ...lines].join('\n'));
  examplesOf.set(noun, lines);
  return noun;
}

/** A verb that changes nothing. */
export function readVerb(noun: Command, name: string, { summary, notes, examples }: VerbTexts) {
  const lines = examples.map((example) => `  ${COMMAND} ${example}`);
  examplesOf.get(noun)?.push(...lines.slice(0, 1));
  return noun
    .command(name)
    .summary(summary)
    .description(notes === undefined ? `${summary}.` : `${summary}. ${notes}`)
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', ['\nExamples:', ...lines].join('\n'));
}

/** A verb that writes an audit row. */
export function changeVerb(noun: Command, name: string, texts: VerbTexts) {
  return readVerb(noun, name, texts)
    .option('--by <NAME>', 'who makes the change, for the audit log (default: the OS user)', text)
    .option('--reason <TEXT>', 'why, for the audit log', text);
}

/** A change that needs a reason. */
export function reasonedVerb(noun: Command, name: string, texts: VerbTexts) {
  return readVerb(noun, name, texts)
    .option('--by <NAME>', 'who makes the change, for the audit log (default: the OS user)', text)
    .requiredOption('--reason <TEXT>', 'why, for the audit log', text);
}

export const ACCOUNT = new Option(
  '--account <ACC_ID>',
  'the account (in development the default is the demo merchant)',
).argParser(text);

export const DEFAULT = new Option(
  '--default',
  'the default for every account, instead of one account',
).conflicts('account');

export const CURRENCY = new Option('--currency <CODE>', 'a supported currency, such as USDT')
  .argParser(text)
  .makeOptionMandatory();

export const PROVIDER = new Option('--provider <CODE>', 'the provider')
  .choices(PROVIDER_CODES)
  .makeOptionMandatory();

export const LIMIT_OPTION = new Option('--limit <N>', 'the maximum number of results')
  .argParser(wholeNumber(1, LIMIT_MAX))
  .default(LIMIT);

/** The object that a verb changes or shows. */
export interface VerbObject {
  /** `endpoint` */
  name: string;
  /** The name of the option, if it is not `id`. */
  option?: 'id' | 'account';
  /** How help names the value of the option: `ENDPOINT_ID`. */
  value: string;
  /** The sentence for somebody who does not know the id. */
  where: string;
}

/** Adds the id of the object, after the verb or as an option, and what the verb does with it. */
export function runOn<Options extends OptionValues & CommonOptions, Document extends object>(
  run: Run,
  verb: Command<[], Options>,
  object: VerbObject,
  work: (context: Context, id: string, options: Options) => Promise<Document>,
  show?: (document: Document) => string,
): void {
  const { name, option = 'id', value } = object;
  (verb as unknown as Command)
    .argument(`[${option}]`, `the ${name}`, text)
    .addOption(new Option(`--${option} <${value}>`, `the ${name}`).argParser(text));
  (verb as unknown as Command<[string | undefined], Options>).action((argument, options) => {
    const id = requireId(argument, options[option] as string | undefined, object);
    return run(options, (context) => work(context, id, options), show);
  });
}

/** Prints a list; a verb with --limit reads one more than that, to know whether there are more. */
export function runList<
  Options extends OptionValues & CommonOptions & { limit?: number },
  Row extends object,
>(
  run: Run,
  verb: Command<[], Options>,
  read: (context: Context, options: Options) => Promise<Row[]>,
  columns: readonly (keyof Row & string)[],
  none: string,
): void {
  verb.action((options) =>
    run(
      options,
      async (context) => listOf(await read(context, options), options.limit),
      (list) => showList(list, columns, none),
    ),
  );
}

/** The id follows the verb or is an option. @throws UsageError when neither or both are given */
export function requireId(
  argument: string | undefined,
  value: string | undefined,
  { option = 'id', where }: Pick<VerbObject, 'option' | 'where'>,
): string {
  if (argument !== undefined && value !== undefined) {
    throw new UsageError(`The id is given twice: as ${argument} and as --${option} ${value}.`);
  }
  const id = argument ?? value;
  if (id === undefined)
    throw new UsageError(`The id is missing: add it after the verb, or as --${option}. ${where}`);
  return id;
}

/** A count, such as the number of decisions. */
export const count = wholeNumber(0, 1_000_000);

/** A text that is not blank. */
export function text(value: string): string {
  const trimmed = value.trim();
  if (trimmed === '') throw new InvalidArgumentError('It must not be empty.');
  return trimmed;
}

/** The parts between commas. */
export function list(value: string): string[] {
  return text(value)
    .split(',')
    .map((part) => part.trim());
}

/** ISO 8601 with a time zone; a bare date is its first moment in UTC. */
export function isoTime(value: string): string {
  const time = parseIsoTime(value.trim(), 'from');
  if (time !== null) return time;
  throw new InvalidArgumentError(
    'It must be a date or an ISO 8601 time with a time zone: 2027-01-01 or 2027-01-01T12:00:00Z.',
  );
}

export function time(value: string): Date {
  return new Date(isoTime(value));
}
