#!/usr/bin/env node
/** The command for merchants: `npx payments-gateway listen`. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { GatewayClient } from '../index';
import { listen } from './listen';

const DEFAULT_BASE_URL = 'http://localhost:3000/api/v1';

const HELP = `Usage: payments-gateway listen --forward-to <url> [options]

Forwards the account's events to a local webhook receiver.

Options:
  --forward-to <url>    the receiver, such as http://localhost:4000/webhooks
  --key <key>           the API key (default: the variable GATEWAY_API_KEY)
  --base-url <url>      the API (default: GATEWAY_BASE_URL, or ${DEFAULT_BASE_URL})
  --events <types>      event types, separated by commas (default: all)
  --cursor-file <file>  where to save the last forwarded event
  --secret <secret>     the signing secret (default: a new one, printed at the start)
  --help                show this help

Examples:
  payments-gateway listen --forward-to http://localhost:4000/webhooks --key sk_test_...
  payments-gateway listen --forward-to http://localhost:4000/webhooks --events payout.completed \\
    --cursor-file listen.json

Without --cursor-file, each start begins with new events. With it, a restart continues after the last
event that the receiver answered with 2xx. The API key needs the scope events:read.
`;

const FAILED = 1;
const WRONG_USAGE = 2;

class UsageError extends Error {}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  if (values.help === true) {
    process.stdout.write(HELP);
    return;
  }
  if (positionals.length !== 1 || positionals[0] !== 'listen') {
    throw new UsageError('The command is listen.');
  }
  const { GATEWAY_API_KEY, GATEWAY_BASE_URL } = process.env;
  const forwardTo = checkUrl('--forward-to', values['forward-to']);
  const client = createClient({
    key: values.key ?? GATEWAY_API_KEY ?? '',
    baseUrl: values['base-url'] ?? GATEWAY_BASE_URL ?? DEFAULT_BASE_URL,
  });
  const secret = values.secret ?? `whsec_${randomBytes(32).toString('base64')}`;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  print(`Forwarding events to ${forwardTo}`);
  print(`Signing secret: ${secret}`);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const cursorFile = values['cursor-file'];
  const { signal } = stopping;
  await listen({ client, forwardTo, secret, types: values.events, cursorFile, signal, print });
}

function readArguments(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        'forward-to': text,
        key: text,
        'base-url': text,
        events: text,
        'cursor-file': text,
        secret: text,
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function createClient(options: { key: string; baseUrl: string }): GatewayClient {
  if (options.key === '') throw new UsageError('Set --key or the variable GATEWAY_API_KEY.');
  try {
    return new GatewayClient(options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = error.message.replace(/^key/, '--key').replace(/^baseUrl/, '--base-url');
    throw new UsageError(message);
  }
}

function checkUrl(option: string, text: string | undefined): string {
  if (text === undefined) throw new UsageError(`The option ${option} <url> is required.`);
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new UsageError(`${option} must be a URL starting with http:// or https://.`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  process.stderr.write(
    isUsage ? `error: ${message}\nAdd --help for the options and examples.\n` : `${message}\n`,
  );
  process.exitCode = isUsage ? WRONG_USAGE : FAILED;
});
