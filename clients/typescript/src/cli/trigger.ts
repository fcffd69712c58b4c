/** `payments-gateway trigger`: makes an event happen in test mode, and waits for it. */
import type { Event, GatewayClient } from '../index';
import type { Command, Run } from './command';
import { connect } from './connection';
import { lineOf } from './events';
import { CommandError, EXIT, UsageError } from './failure';
import { note, print, printableJson } from './output';
import { NOT_TRIGGERED, type Triggered, TRIGGERS } from './triggers';

/** A schedule's end is noticed after a minute of grace. */
const TIMEOUT_SECONDS = 180;

export const TRIGGER: Command = {
  name: 'trigger',
  argument: '<event type>',
  summary: 'Makes an event happen in test mode, with a real object',
  connects: true,
  options: {
    timeout: { value: '<seconds>', help: `how long to wait for it (default: ${TIMEOUT_SECONDS})` },
  },
  more: `The command creates the object with your test key, waits for the event and prints it. Your webhook endpoints
and payments-gateway listen receive it as well.

Event types:
${list(Object.entries(TRIGGERS).map(([type, { how }]) => [type, how]))}

Not by this command:
${list(Object.entries(NOT_TRIGGERED))}`,
  examples: ['trigger payment.completed', 'trigger payout.failed --json'],
  run: trigger,
};

function list(lines: [string, string][]): string {
  return lines.map(([type, text]) => `  ${type.padEnd(28)}${text}`).join('\n');
}

async function trigger({ values, argument, signal, asJson }: Run): Promise<void> {
  const type = checkType(argument);
  const { client, mode } = connect(values);
  if (mode === 'live') {
    throw new UsageError('trigger needs a test key.', 'Use a key that begins with sk_test_.');
  }
  const seconds = values.count('timeout', TIMEOUT_SECONDS);
  const onEvent = (event: Event): void => {
    if (!asJson) print(lineOf(event));
  };
  const event = await makeAndWait(client, type, seconds, signal, onEvent);
  if (asJson) print(printableJson(event, 2));
}

/** @throws UsageError */
export function checkType(text: string): Triggered {
  if (Object.hasOwn(TRIGGERS, text)) return text as Triggered;
  const reason = NOT_TRIGGERED[text as keyof typeof NOT_TRIGGERED] as string | undefined;
  throw new UsageError(
    reason === undefined ? `"${text}" is no type of event.` : `${text}: ${reason}.`,
    'payments-gateway trigger --help lists the types.',
  );
}

/** @param onEvent called with every event of the object until the wanted one has come */
export async function makeAndWait(
  client: GatewayClient,
  type: Triggered,
  seconds: number,
  interrupted: AbortSignal,
  onEvent?: (event: Event) => void,
): Promise<Event> {
  const timeout = AbortSignal.timeout(seconds * 1_000);
  const signal = AbortSignal.any([interrupted, timeout]);
  try {
    const { cursor } = await client.events.feed({ after: 'latest' }, { signal });
    const id = await TRIGGERS[type].make({ client, signal, note });
    for await (const event of client.events.follow({ cursor, signal })) {
      if (event.data.object === 'ping' || event.data.id !== id) continue;
      onEvent?.(event);
      if (event.type === type) return event;
    }
    throw signal.reason as Error;
  } catch (error) {
    if (interrupted.aborted || !timeout.aborted) throw error;
    throw new CommandError(
      `${type} did not happen within ${seconds} seconds.`,
      EXIT.noAnswer,
      'It happens by itself where test mode is connected to the sandbox.',
    );
  }
}
