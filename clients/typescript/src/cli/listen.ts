/**
 * Forwards an account's events to a receiver on the developer's machine, with the headers and the
 * signature of a webhook: `payments-gateway listen`.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { CursorExpiredError, ValidationFailedError } from '../errors';
import { type Event, type FeedQuery, type GatewayClient, webhooks } from '../index';
import { pause } from '../request';
import { CommandError, EXIT, textOf, UsageError } from './failure';

export interface ListenOptions {
  client: Pick<GatewayClient, 'events'>;
  forwardTo: string;
  /** Signs the events, as an endpoint's secret does. */
  secret: string;
  /** Event types, separated by commas; undefined: all. */
  types: string | undefined;
  /** Undefined: the position is not kept, and each start begins with new events. */
  cursorFile: string | undefined;
  signal: AbortSignal;
  print: (line: string) => void;
}

/**
 * The position to continue from: the last event that the receiver took, or the start of the first run.
 */
type Position = { after: string } | { cursor: string; types: string | null };

const RECEIVER_TIMEOUT_MS = 10_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** Ends when the signal is aborted. @throws CommandError */
export async function listen(options: ListenOptions): Promise<void> {
  const { client, types, cursorFile, signal, print } = options;
  try {
    const from = await findStart(options);
    const start = 'after' in from ? { after: from.after } : { cursor: from.cursor };
    const onError = (error: unknown): void => print(`The gateway: ${textOf(error)} Retrying.`);
    for await (const event of client.events.follow({
      ...start,
      type: asTypes(types),
      signal,
      onError,
    })) {
      if (!(await deliver(event, options))) return;
      if (cursorFile !== undefined) savePosition(cursorFile, { after: event.id });
    }
  } catch (error) {
    if (signal.aborted) return;
    throw explain(error, cursorFile);
  }
}

/** The gateway refuses a name that is no type. */
function asTypes(types: string | undefined): FeedQuery['type'] {
  return types as FeedQuery['type'];
}

async function findStart({ client, types, cursorFile, signal }: ListenOptions): Promise<Position> {
  const saved = cursorFile === undefined ? null : readPosition(cursorFile);
  if (saved !== null && ('after' in saved || saved.types === (types ?? null))) return saved;
  const { cursor } = await client.events.feed(
    { after: 'latest', type: asTypes(types) },
    { signal },
  );
  const position = { cursor, types: types ?? null };
  if (cursorFile !== undefined) savePosition(cursorFile, position);
  return position;
}

/** @returns false when the signal ended it */
async function deliver(event: Event, options: ListenOptions): Promise<boolean> {
  const { signal, print } = options;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(LONGEST_DELAY_MS, delay * 2)) {
    const { answer, ok, ms } = await sendEvent(event, options);
    const what = `${event.type} ${objectOf(event)} ${event.id}`;
    if (signal.aborted && !ok) return false;
    print(`${what} ${answer} ${ms} ms${ok ? '' : `, retrying in ${delay / 1_000} s`}`);
    if (ok) return true;
    await pause(delay, signal).catch(() => undefined);
    if (hasEnded(signal)) return false;
  }
}

/** Sends an event once, as a webhook. */
export async function sendEvent(
  event: Event,
  { forwardTo, secret, signal }: Pick<ListenOptions, 'forwardTo' | 'secret' | 'signal'>,
) {
  const body = JSON.stringify(event);
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  try {
    const response = await fetch(forwardTo, {
      method: 'POST',
      body,
      headers: {
        'User-Agent': 'payments-gateway-webhooks/1',
        'Content-Type': 'application/json',
        'X-Gateway-Event': event.type,
        'X-Gateway-Event-Id': event.id,
        'X-Gateway-Timestamp': String(timestampSeconds),
        'X-Gateway-Signature': webhooks.sign(secret, timestampSeconds, body),
      },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(RECEIVER_TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    const { status, ok } = response;
    return { answer: String(status), status, ok, ms: elapsed() };
  } catch (error) {
    return { answer: `no answer (${textOf(error)})`, status: null, ok: false, ms: elapsed() };
  }
}

/** The ID of the object that the event is about. */
export function objectOf({ data }: Event): string {
  return data.object === 'ping' ? data.endpoint_id : data.id;
}

function readPosition(file: string): Position | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`The cursor file ${file} cannot be read: ${textOf(error)}`);
  }
  try {
    const position = JSON.parse(text) as Partial<{ after: string; cursor: string }> | null;
    if (typeof position?.after === 'string' || typeof position?.cursor === 'string') {
      return position as Position;
    }
  } catch {
    // Invalid JSON is reported below, like any other content that is not a position.
  }
  throw new UsageError(`${file} is not a cursor file.`, 'Delete it, or name another one.');
}

/** A rename replaces the file as a whole, so a crash leaves the old or the new position. */
function savePosition(file: string, position: Position): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(position)}\n`);
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new UsageError(`The cursor file ${file} cannot be written: ${textOf(error)}`);
  }
}

function explain(error: unknown, file: string | undefined): unknown {
  const where = file ?? 'the cursor file';
  if (error instanceof CursorExpiredError) {
    return new CommandError(
      `Events after the position in ${where} are no longer available.`,
      EXIT.refused,
      'Delete the file to continue with new events.',
    );
  }
  if (error instanceof ValidationFailedError) {
    const { fields } = error.details;
    const isPosition = fields.some(({ field }) => field === 'after' || field === 'cursor');
    return isPosition
      ? new UsageError(
          `${where} belongs to another account or mode.`,
          'Delete it, or name another one.',
        )
      : error;
  }
  return error;
}

/**
 * This is a function because the compiler does not know that a signal changes while something is
 * awaited.
 */
function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}
