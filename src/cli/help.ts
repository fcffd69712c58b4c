/** What --help prints, at the level of the program, a noun and a verb. */
import type { AnyVerb, Noun, OptionSpec } from './command';
import { NOUNS } from './nouns';

const COMMAND = 'npm run -s admin --';
const WIDTH = 24;

export const EVERY_VERB: Record<string, OptionSpec> = {
  json: { help: 'print one JSON document and nothing else' },
  help: { help: 'print this' },
};

/** How --by and --reason are explained where they are allowed. */
export function changeOptions({ changes }: Pick<AnyVerb, 'changes'>): Record<string, OptionSpec> {
  if (changes === undefined) return {};
  const necessity = changes === 'reason required' ? ' (required)' : '';
  return {
    by: { value: 'NAME', help: 'who makes the change, for the audit log (the OS user)' },
    reason: { value: 'TEXT', help: `why, for the audit log${necessity}` },
  };
}

export function programHelp(): string {
  return [
    `Usage: ${COMMAND} <noun> <verb> [options] [--json]`,
    '',
    'Runs the gateway: accounts, keys, fees, limits and what else an operator decides. Every change',
    'is written to the audit log, with who, what, before, after and why.',
    '',
    ...Object.entries(NOUNS).flatMap(([name, { summary, verbs }]) => [
      entry(name, summary),
      entry('', Object.keys(verbs).join(', ')),
    ]),
    '',
    `\`${COMMAND} <noun> --help\` and \`${COMMAND} <noun> <verb> --help\` say more.`,
    '',
    'Examples:',
    `  ${COMMAND} accounts list`,
    `  ${COMMAND} keys create --mode test --scopes all --json`,
    `  ${COMMAND} payouts pause --reason "provider maintenance until 14:00"`,
    '',
    'Environment:',
    entry('DATABASE_OWNER_URL', 'the database, as the role that owns the schema'),
    entry('KEY_PEPPER', 'as the gateway has it; keys create and keys rotate need it'),
    entry(
      'WEBHOOK_SECRET_KEY',
      'as the gateway has it, with the other WEBHOOK_ variables; webhooks',
    ),
    entry('TEMPORAL_ADDRESS', 'as the gateway has it, and TEMPORAL_NAMESPACE; payments need them'),
    entry('GATEWAY_DATA_DIR', 'without these: the data folder of `npm start` (.gateway)'),
    '',
    'Exit codes: 0 done, 1 refused or not possible, 2 a wrong argument',
    '',
  ].join('\n');
}

export function nounHelp(name: string, noun: Noun): string {
  const verbs = Object.entries(noun.verbs);
  return [
    `Usage: ${COMMAND} ${name} <verb> [options] [--json]`,
    '',
    noun.summary,
    '',
    ...verbs.map(([verbName, { summary }]) => entry(verbName, summary)),
    '',
    'Examples:',
    ...verbs.flatMap(([, { examples }]) => examples.slice(0, 1).map(example)),
    '',
  ].join('\n');
}

export function verbHelp(nounName: string, verbName: string, verb: AnyVerb): string {
  const subject = verb.subject === undefined ? undefined : verb.options[verb.subject]?.value;
  const usage = [COMMAND, nounName, verbName, subject ?? '', '[options] [--json]'];
  const options = { ...verb.options, ...changeOptions(verb), ...EVERY_VERB };
  return [
    `Usage: ${usage.filter((part) => part !== '').join(' ')}`,
    '',
    `${verb.summary}.`,
    ...(verb.notes ?? []),
    '',
    ...Object.entries(options).map(([name, { value, help }]) =>
      entry(value === undefined ? `--${name}` : `--${name} ${value}`, help),
    ),
    '',
    'Examples:',
    ...verb.examples.map(example),
    '',
  ].join('\n');
}

function entry(name: string, text: string): string {
  // A name that fills its column gets a line of its own.
  return name.length < WIDTH
    ? `  ${name.padEnd(WIDTH)} ${text}`
    : `  ${name}\n  ${''.padEnd(WIDTH)} ${text}`;
}

function example(line: string): string {
  return `  ${COMMAND} ${line}`;
}
