/** `payments-gateway listen`: its options, and the start of listen.ts. */
import { randomBytes } from 'node:crypto';
import type { Command, Run } from './command';
import { connect } from './connection';
import { UsageError } from './failure';
import { listen } from './listen';
import { print } from './output';

export const LISTEN: Command = {
  name: 'listen',
  summary: "Forwards the account's events to a webhook receiver on your machine",
  connects: true,
  options: {
    'forward-to': {
      value: '<url>',
      help: 'the receiver, such as http://localhost:4000/webhooks',
      required: true,
    },
    events: { value: '<types>', help: 'event types, separated by commas (default: all)' },
    'cursor-file': { value: '<file>', help: 'where to save the last forwarded event' },
    secret: {
      value: '<secret>',
      help: 'the signing secret (default: a new one, printed at the start)',
    },
  },
  more: `Without --cursor-file, each start begins with new events. With it, a restart continues after the last
event that the receiver answered with 2xx. The API key needs the scope events:read. Ctrl-C ends it.`,
  examples: [
    'listen --forward-to http://localhost:4000/webhooks',
    'listen --forward-to http://localhost:4000/webhooks --events payout.completed --cursor-file listen.json',
  ],
  run: start,
};

async function start({ values, signal }: Run): Promise<void> {
  const forwardTo = checkUrl('forward-to', values.text('forward-to') ?? '');
  const { client } = connect(values);
  const secret = values.text('secret') ?? `whsec_${randomBytes(32).toString('base64')}`;
  print(`Forwarding events to ${forwardTo}`);
  print(`Signing secret: ${secret}`);
  const types = values.text('events');
  const cursorFile = values.text('cursor-file');
  await listen({ client, forwardTo, secret, types, cursorFile, signal, print });
}

/** @throws UsageError */
export function checkUrl(option: string, text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new UsageError(`--${option} must be a URL starting with http:// or https://.`);
}
