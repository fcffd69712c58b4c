/** What went wrong: the text for people, the JSON for programs, and the exit code of the process. */
import { ApiError, ConnectionError, UnexpectedResponseError } from '../errors';
import { printable, printableJson, rows } from './output';

export const EXIT = { refused: 1, wrongUsage: 2, noAnswer: 3, interrupted: 130 } as const;
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The message is for the person at the terminal. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: ExitCode,
    /** What to do next, on a line of its own. */
    readonly remedy?: string,
    /** The error that is shown in its place, above the remedy. */
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** An option, a setting or a file of the user is wrong. */
export class UsageError extends CommandError {
  constructor(message: string, remedy = 'Add --help for the options and examples.') {
    super(message, EXIT.wrongUsage, remedy);
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof DOMException && error.name === 'AbortError') return EXIT.interrupted;
  const isAnswer = !(error instanceof ConnectionError || error instanceof UnexpectedResponseError);
  return isAnswer ? EXIT.refused : EXIT.noAnswer;
}

/** Whether the request may have been processed all the same. */
export function isUnknownResult(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.code === 'request_in_progress';
  return !(error instanceof TypeError);
}

/** The errors of the API have its form, so that a program reads both alike. */
export function errorAsJson(thrown: unknown): string {
  const { error, remedy } = shownOf(thrown);
  const message = textOf(error);
  if (!isRefusal(error)) {
    const shown = { code: NAMES[exitCodeOf(thrown)], message, remedy, ...foreignOf(error) };
    return printableJson({ error: shown });
  }
  const { code, details, requestId: request_id, docUrl: doc_url } = error;
  return printableJson({ error: { code, message, remedy, details, request_id, doc_url } });
}

/** What a program can tell an answer by that is not the gateway's. */
function foreignOf(error: unknown): object {
  if (!(error instanceof UnexpectedResponseError)) return {};
  const { status, contentType: content_type, requestId: request_id } = error;
  return { status, content_type, request_id };
}

const NAMES: Record<ExitCode, string> = {
  1: 'failed',
  2: 'wrong_usage',
  3: 'no_answer',
  130: 'interrupted',
};

/** The message of an API error says what to do; the lines below it have what a program would read. */
export function errorAsText(thrown: unknown): string {
  const { error, remedy } = shownOf(thrown);
  const lines = [`error: ${printable(textOf(error))}`];
  if (error instanceof ConnectionError) lines.push(`  ${printable(textOf(error.cause))}`);
  if (isRefusal(error)) {
    const { code, details, requestId, docUrl } = error;
    const more = { code, ...detailsOf(details), help: docUrl, 'request id': requestId };
    lines.push(...rows(more).map((line) => `  ${line}`));
  }
  if (remedy !== undefined) lines.push(printable(remedy));
  return `${lines.join('\n')}\n`;
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError;
}

function shownOf(thrown: unknown): { error: unknown; remedy: string | undefined } {
  if (!(thrown instanceof CommandError)) return { error: thrown, remedy: undefined };
  return { error: thrown.cause ?? thrown, remedy: thrown.remedy };
}

/** Each invalid field with its message; other details under their names. */
function detailsOf(details: object | undefined): object {
  if (details === undefined || !('fields' in details)) return details ?? {};
  const fields = details.fields as { field: string; message: string }[];
  return Object.fromEntries(fields.map(({ field, message }) => [field, message]));
}

/** The text of an error. `fetch` hides the reason in the cause. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  if (cause instanceof AggregateError) return textOf(cause.errors[0]);
  return cause instanceof Error && error instanceof TypeError ? textOf(cause) : message;
}
