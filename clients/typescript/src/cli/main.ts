#!/usr/bin/env node
/** The command for merchants, `payments-gateway`. docs/guides/cli.md describes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BALANCE } from './balance';
import { type Command, helpOf, helpOfAll, readArguments } from './command';
import { EVENT_COMMANDS } from './events';
import { EXIT, errorAsJson, errorAsText, exitCodeOf, UsageError } from './failure';
import { LISTEN } from './listen-command';
import { LOGIN, LOGOUT } from './login';
import { LOG_COMMANDS } from './logs';
import { print } from './output';
import { PAYMENT_COMMANDS } from './payments';
import { PAYOUT_COMMANDS } from './payouts';
import { TRIGGER } from './trigger';
import { VERIFY_DOSSIER } from './verify-dossier';

const COMMANDS: readonly Command[] = [
  LOGIN,
  LOGOUT,
  BALANCE,
  ...PAYMENT_COMMANDS,
  ...PAYOUT_COMMANDS,
  ...EVENT_COMMANDS,
  ...LOG_COMMANDS,
  LISTEN,
  TRIGGER,
  VERIFY_DOSSIER,
];

async function main(args: string[], signal: AbortSignal): Promise<void> {
  const found = COMMANDS.find(({ name }) => isStart(name.split(' '), args));
  if (found === undefined) {
    helpWithout(args);
    return;
  }
  const given = readArguments(found, args.slice(found.name.split(' ').length));
  if (given.values.has('help')) process.stdout.write(helpOf(found));
  else await found.run({ ...given, signal });
}

function isStart(words: readonly string[], args: readonly string[]): boolean {
  return words.every((word, index) => word === args[index]);
}

/** Arguments that name no command. @throws UsageError unless they ask for help */
function helpWithout(args: readonly string[]): void {
  const [first = '--help', ...rest] = args;
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (first === '--help' || first === 'help') process.stdout.write(helpOfAll(COMMANDS));
  else if (first === '--version') print(version());
  else if (group.length > 0 && (rest.length === 0 || rest[0] === '--help')) {
    process.stdout.write(helpOfAll(group));
  } else {
    const known = (group.length > 0 ? group : COMMANDS).map(({ name }) => name).join(', ');
    throw new UsageError(`There is no such command. The commands are ${known}.`);
  }
}

function version(): string {
  const text = readFileSync(join(__dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function start(): void {
  const args = process.argv.slice(2);
  const stopping = new AbortController();
  const { signal } = stopping;
  // The second Ctrl-C ends the process at once.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  // A reader such as `head` that has seen enough is no error.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === 'EPIPE' ? 0 : 1),
  );
  main(args, signal).catch((error: unknown) => {
    if (error === signal.reason) {
      process.exitCode = EXIT.interrupted;
      return;
    }
    const asJson = args.includes('--json');
    process.stderr.write(asJson ? `${errorAsJson(error)}\n` : errorAsText(error));
    process.exitCode = exitCodeOf(error);
  });
}

start();
