#!/usr/bin/env node
/** The command for merchants: `npx payments-gateway listen`. */
import { randomBytes } from 'node:crypto';
import { GatewayClient } from '../client/index';
import { listen } from '../client/listen';
import {
  createCommand,
  runAsMain,
  runCommand,
  type Terminal,
  UsageError,
} from '../lib/command-line';

const EXAMPLES = `
Examples:
  payments-gateway listen --forward-to http://localhost:4000/webhooks --key sk_test_...
  payments-gateway listen --forward-to http://localhost:4000/webhooks --events payout.completed \\
    --cursor-file listen.json

Without --cursor-file, each start begins with new events. With it, a restart continues after the last
event that the receiver answered with 2xx. The API key needs the scope events:read.`;

const DEFAULT_BASE_URL = 'http://localhost:3000/api/v1';

async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const { env, out } = terminal;
  const program = createCommand('payments-gateway', terminal);
  program
    .command('listen')
    .description("forward the account's events to a local webhook receiver")
    .requiredOption('--forward-to <url>', 'the receiver, such as http://localhost:4000/webhooks')
    .option('--key <key>', 'the API key (default: the variable GATEWAY_API_KEY)')
    .option('--base-url <url>', `the API (default: GATEWAY_BASE_URL, or ${DEFAULT_BASE_URL})`)
    .option('--events <types>', 'event types, separated by commas (default: all)')
    .option('--cursor-file <file>', 'where to save the last forwarded event')
    .option('--secret <secret>', 'the signing secret (default: a new one, printed at the start)')
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      const { forwardTo, cursorFile, events: types } = options;
      checkUrl('--forward-to', forwardTo);
      const client = createClient({
        key: options.key ?? env['GATEWAY_API_KEY'] ?? '',
        baseUrl: options.baseUrl ?? env['GATEWAY_BASE_URL'] ?? DEFAULT_BASE_URL,
      });
      const secret = options.secret ?? `whsec_${randomBytes(32).toString('base64')}`;
      const print = (line: string): void => out(`${line}\n`);
      print(`Forwarding events to ${forwardTo}`);
      print(`Signing secret: ${secret}`);
      const stopping = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => stopping.abort());
      }
      const { signal } = stopping;
      await listen({ client, forwardTo, secret, types, cursorFile, signal, print });
    });
  return runCommand(program, args, terminal);
}

function createClient(options: { key: string; baseUrl: string }): GatewayClient {
  if (options.key === '') throw new UsageError('Set --key or the variable GATEWAY_API_KEY.');
  try {
    return new GatewayClient(options);
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(
        error.message.replace(/^key/, '--key').replace(/^baseUrl/, '--base-url'),
      );
    throw error;
  }
}

function checkUrl(option: string, text: string): void {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return;
  throw new UsageError(`${option} must be a URL starting with http:// or https://.`);
}

runAsMain(module, main);
