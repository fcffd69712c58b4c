/**
 * Runs one admin command: finds the verb, reads its options, does the work, prints the answer.
 * src/bin/admin.ts gives it the process's arguments, tests their own.
 */
import { userInfo } from 'node:os';
import type { Client } from '@temporalio/client';
import { parseArgs } from 'node:util';
import { UsageError } from '../lib/command-line';
import type { ChangedBy } from '../services/admin/change';
import { checkText } from '../services/admin/checks';
import { InvalidInput } from '../services/admin/refusal';
import type { AnyVerb, Context } from './command';
import { errorSentence } from './error-sentence';
import { changeOptions, EVERY_VERB, nounHelp, programHelp, verbHelp } from './help';
import { connectTemporal, findAccountId, openDatabase, readPepper } from './installation';
import { NOUNS } from './nouns';
import { Options } from './options';
import { type OpenedWebhookTools, openWebhookTools } from './webhook-tools';

const ACTOR_LENGTH_MAX = 100;
const REASON_LENGTH_MAX = 500;

const DONE = 0;
const REFUSED = 1;
const WRONG_USAGE = 2;

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** @returns the exit code */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    terminal.out(await answer(args, env));
    return DONE;
  } catch (error) {
    terminal.err(`${errorSentence(error)}\n`);
    return error instanceof UsageError || error instanceof InvalidInput ? WRONG_USAGE : REFUSED;
  }
}

async function answer(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const command = readCommand(args);
  if ('help' in command) return command.help;
  const { verb, input, by, json } = command;
  const document = await runVerb(verb, input, by, env);
  return json ? `${JSON.stringify(document, null, 2)}\n` : verb.show(document);
}

type Command = { help: string } | { verb: AnyVerb; input: unknown; by: ChangedBy; json: boolean };

/**
 * Finds everything that can be wrong with the words, before the database is asked.
 * @throws UsageError, InvalidInput
 */
export function readCommand(args: readonly string[]): Command {
  const [nounName = '', verbName = '', ...rest] = args;
  if (nounName === '--help') return { help: programHelp() };
  const noun = own(NOUNS, nounName);
  if (noun === undefined) throw unknown('noun', nounName, Object.keys(NOUNS), '--help');
  if (verbName === '--help') return { help: nounHelp(nounName, noun) };
  const verb = own(noun.verbs, verbName);
  if (verb === undefined) {
    throw unknown('verb', verbName, Object.keys(noun.verbs), `${nounName} --help`);
  }
  const options = readOptions(verb, rest, `${nounName} ${verbName}`);
  if (options.flag('help')) return { help: verbHelp(nounName, verbName, verb) };
  const [input, by] = [verb.read(options), readChangedBy(verb, options)];
  return { verb, input, by, json: options.flag('json') };
}

/** Not what every object has: a noun called `constructor` is none. */
function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function readOptions(verb: AnyVerb, args: readonly string[], name: string): Options {
  const known = { ...verb.options, ...changeOptions(verb), ...EVERY_VERB };
  const types = Object.fromEntries(
    Object.entries(known).map(([option, { value }]) => [
      option,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const [first] = args;
  if (first === undefined || first.startsWith('-') || verb.subject === undefined) {
    return new Options(parse([...args], types, name));
  }
  const values = parse(args.slice(1), types, name);
  if (values[verb.subject] !== undefined) {
    throw new UsageError(`${first} and --${verb.subject} say the same: leave one of them out.`);
  }
  return new Options({ ...values, [verb.subject]: first });
}

function parse(
  args: string[],
  types: Record<string, { type: 'string' | 'boolean' }>,
  name: string,
): Record<string, string | boolean | undefined> {
  try {
    return parseArgs({ args, options: types }).values;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = `${error.message.replace(/\.?$/, '.')} \`${name} --help\` shows the options.`;
    throw new UsageError(message, { cause: error });
  }
}

function readChangedBy({ changes }: AnyVerb, options: Options): ChangedBy {
  if (changes === undefined) return { actor: '', reason: null };
  const actor = checkText('by', options.text('by') ?? osUserName(), ACTOR_LENGTH_MAX);
  if (changes === 'reason required') options.required('reason', 'say why, for those who read it');
  const reason = options.text('reason');
  return {
    actor,
    reason: reason === undefined ? null : checkText('reason', reason, REASON_LENGTH_MAX),
  };
}

function osUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have a number and no name.
    throw new UsageError('--by is missing: the operating system knows no name for this user.');
  }
}

async function runVerb(
  verb: AnyVerb,
  input: unknown,
  by: ChangedBy,
  env: NodeJS.ProcessEnv,
): Promise<object> {
  const db = await openDatabase(env);
  let temporal: Client | null = null;
  let webhooks: OpenedWebhookTools | null = null;
  const context: Context = {
    db,
    by,
    accountId: (asked) => findAccountId(db, env, asked),
    pepper: () => readPepper(env),
    temporal: () => (temporal ??= connectTemporal(env)),
    webhooks: () => (webhooks ??= openWebhookTools(env)),
  };
  try {
    return await verb.run(context, input);
  } finally {
    await (webhooks as OpenedWebhookTools | null)?.close();
    await Promise.all([db.destroy(), (temporal as Client | null)?.connection.close()]);
  }
}

function unknown(kind: string, name: string, known: string[], help: string): UsageError {
  const what =
    name === '' || name.startsWith('-') ? `The ${kind} is missing` : `No ${kind} ${name}`;
  return new UsageError(`${what}: ${known.join(', ')}. \`${help}\` explains them.`);
}
