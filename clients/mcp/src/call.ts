/** What a call of a tool does. All texts of customers are in the structured result, and nowhere else. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { errorAsJson, isUnknownResult, UsageError } from '../../typescript/src/cli/failure';
import { printable } from '../../typescript/src/cli/output';
import { checkType, makeAndWait } from '../../typescript/src/cli/trigger';
import { type ClientOptions, GatewayClient } from '../../typescript/src/index';
import { createSend, newIdempotencyKey, type Send } from '../../typescript/src/request';
import { ERRORS, OPERATION_TOOLS } from './generated';
import type { OperationTool } from './operation-tool';
import { EXPLAIN_ERROR, type Mode, TEST_ONLY, TRIGGER_EVENT, TRIGGER_SECONDS } from './tools';

type Arguments = Readonly<Record<string, unknown>>;
type Structured = Record<string, unknown>;

export type CallTool = (
  name: string,
  args: Arguments,
  signal: AbortSignal,
) => Promise<CallToolResult>;

export function createCallTool(options: ClientOptions, mode: Mode): CallTool {
  const send = createSend(options);
  const client = new GatewayClient(options);

  function answer(name: string, args: Arguments, signal: AbortSignal): Promise<Structured> {
    if (mode === 'live' && TEST_ONLY.has(name)) {
      throw new UsageError(
        `${name} needs a test key, and this server has a live key.`,
        'Start the server with a key that begins with sk_test_.',
      );
    }
    if (name === TRIGGER_EVENT) return triggerEvent(client, args, signal);
    if (name === EXPLAIN_ERROR) return Promise.resolve(explainError(options.baseUrl, args));
    const tool = OPERATION_TOOLS.find((one) => one.name === name);
    if (tool === undefined)
      throw new UsageError(`There is no tool ${printable(name)}.`, LIST_TOOLS);
    return callOperation(send, tool, args, signal);
  }

  return async (name, args, signal) => {
    try {
      const structuredContent = await answer(name, args, signal);
      return { structuredContent, content: [textOf(structuredContent)] };
    } catch (error) {
      signal.throwIfAborted();
      // An error does not fit the schema of the tool's result, so it is text alone.
      return { content: [textOf(errorOf(error))], isError: true };
    }
  };
}

/** More than the longest `wait` of a list. */
const TIMEOUT_MS = 45_000;
const LIST_TOOLS = 'List the tools and use one of their names.';

/** The text repeats the structured result as JSON, for assistants that read only text. */
function textOf(structured: Structured): { type: 'text'; text: string } {
  return { type: 'text', text: withoutHidden(JSON.stringify(structured)) };
}

/** Characters that a person does not see could hide text from the person who confirms a call. */
function withoutHidden(json: string): string {
  return json.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from(
      { length: found.length },
      (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** An error that also names the key of a request whose result is not known. */
class UnknownResult extends Error {
  constructor(
    readonly idempotencyKey: string,
    cause: unknown,
  ) {
    super('The result is not known.', { cause });
  }
}

function errorOf(error: unknown): Structured {
  const isUnknown = error instanceof UnknownResult;
  const { error: shown } = JSON.parse(errorAsJson(isUnknown ? error.cause : error)) as {
    error: Structured;
  };
  if (!isUnknown) return { error: shown };
  const remedy =
    'The object may have been created. Call the tool again with the same arguments and this idempotency_key.';
  return { error: { ...shown, remedy, idempotency_key: error.idempotencyKey } };
}

async function callOperation(
  send: Send,
  tool: OperationTool,
  args: Arguments,
  signal: AbortSignal,
): Promise<Structured> {
  const { idempotency_key: givenKey, ...given } = args;
  checkNames(tool, args);
  const inPath = (name: string): boolean => tool.path.includes(`{${name}}`);
  const entries = Object.entries(given);
  const query = entries.filter(([name]) => tool.query.includes(name));
  const body = entries.filter(([name]) => !tool.query.includes(name) && !inPath(name));
  const path = tool.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    idOf(tool, name, given[name]),
  );
  const call = {
    method: tool.method,
    path,
    query: Object.fromEntries(query) as Record<string, string>,
    ...(body.length === 0 ? {} : { body: Object.fromEntries(body) as object }),
    signal,
    timeoutMs: TIMEOUT_MS,
  };
  if (!tool.hasIdempotencyKey) return send<Structured>(call);
  const idempotencyKey = keyOf(givenKey);
  try {
    const created = await send<Structured>({ ...call, idempotencyKey });
    return { ...created, idempotency_key: idempotencyKey };
  } catch (error) {
    throw isUnknownResult(error) ? new UnknownResult(idempotencyKey, error) : error;
  }
}

/** The values are checked by the gateway, whose errors name the field and the remedy. */
function checkNames({ name, input, hasIdempotencyKey }: OperationTool, args: Arguments): void {
  const known = [
    ...Object.keys(input.properties ?? {}),
    ...(hasIdempotencyKey ? ['idempotency_key'] : []),
  ];
  const unknown = Object.keys(args).find((argument) => !known.includes(argument));
  if (unknown === undefined) return;
  throw new UsageError(
    `${name} has no argument ${printable(unknown)}.`,
    known.length === 0 ? 'Call it without arguments.' : `Use ${known.join(', ')}.`,
  );
}

/** An ID becomes a part of the path, so nothing else may be in its place. */
function idOf({ input }: OperationTool, name: string, value: unknown): string {
  const { pattern } = input.properties?.[name] ?? {};
  const isId = typeof value === 'string' && typeof pattern === 'string';
  if (isId && new RegExp(pattern).test(value)) return value;
  throw new UsageError(`${name} is not the ID of an object.`, `Use an ID like ${String(pattern)}.`);
}

function keyOf(given: unknown): string {
  if (given === undefined) return newIdempotencyKey();
  if (typeof given === 'string' && /^[\x20-\x7e]{1,191}$/.test(given)) return given;
  throw new UsageError(
    'idempotency_key must be 1 to 191 printable ASCII characters.',
    'Use the key of the call that is repeated, or none for a new object.',
  );
}

async function triggerEvent(
  client: GatewayClient,
  { type, timeout_seconds: given = TRIGGER_SECONDS }: Arguments,
  signal: AbortSignal,
): Promise<Structured> {
  const seconds = Number(given);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 600) {
    throw new UsageError('timeout_seconds must be a whole number from 1 to 600.', 'Leave it out.');
  }
  const event = await makeAndWait(client, checkType(String(type)), seconds, signal);
  return { ...event };
}

function explainError(baseUrl: string, { code }: Arguments): Structured {
  const meaning = Object.hasOwn(ERRORS, String(code)) ? ERRORS[String(code)] : undefined;
  if (meaning === undefined) {
    throw new UsageError(
      `${printable(String(code))} is no error code of the API.`,
      `The codes are ${Object.keys(ERRORS).join(', ')}.`,
    );
  }
  const docs = baseUrl.replace(/\/api\/v1\/?$/, '/docs/errors');
  return { code, ...meaning, doc_url: `${docs}/${String(code)}` };
}
