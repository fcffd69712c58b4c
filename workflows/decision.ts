/** Reads what an operator sent with `approve` or `reject`. Never throws: people type by hand. */
export interface Decision {
  kind: 'approve' | 'reject';
  /** The operator's name, or null. */
  by: string | null;
  reason: string | null;
}

const NAME_MAX_LENGTH = 100;
const REASON_MAX_LENGTH = 500;

/**
 * No input at all counts, and so do an empty object and null: by an unnamed operator.
 * @returns a sentence about what is wrong with the input when it does not count
 */
export function readDecision(kind: Decision['kind'], args: readonly unknown[]): Decision | string {
  const [input] = args;
  if (args.length > 1) return `\`${kind}\` takes one input, not ${args.length}`;
  if (input === undefined || input === null) return { kind, by: null, reason: null };
  if (!isJsonObject(input)) return wrong(kind, 'is not a JSON object');
  const { by, reason } = input;
  if (!isText(by, NAME_MAX_LENGTH)) return wrong(kind, '"by" has to be a name');
  if (!isText(reason, REASON_MAX_LENGTH)) return wrong(kind, '"reason" has to be a sentence');
  return { kind, by: textOrNull(by), reason: textOrNull(reason) };
}

/** Plain bytes arrive as an object too. */
function isJsonObject(input: unknown): input is { by?: unknown; reason?: unknown } {
  return typeof input === 'object' && !Array.isArray(input) && !ArrayBuffer.isView(input);
}

function wrong(kind: Decision['kind'], what: string): string {
  return `\`${kind}\` was ignored: its input ${what}`;
}

function isText(value: unknown, maxLength: number): value is string | null | undefined {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'string' && value.length <= maxLength && !value.includes('\0'))
  );
}

function textOrNull(value: string | null | undefined): string | null {
  const text = value?.trim() ?? '';
  return text === '' ? null : text;
}
