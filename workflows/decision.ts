/** Reads what an operator sent with a signal. Never throws: people type by hand. */
import type { PaymentDecisionKind } from '../src/domain/payment';
import type { PaymentDecision } from './messages';

export interface Decision<Kind extends string = 'approve' | 'reject'> {
  kind: Kind;
  /** The operator's name, or null. */
  by: string | null;
  reason: string | null;
}

const NAME_LENGTH_MAX = 100;
const REASON_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 100;
const AMOUNT = /^[0-9]{1,18}(\.[0-9]{1,8})?$/;

type Input = Record<string, unknown>;

/**
 * No input at all counts, and so do an empty object and null: by an unnamed operator.
 * @returns a sentence about what is wrong with the input when it does not count
 */
export function readDecision<Kind extends string>(
  kind: Kind,
  args: readonly unknown[],
): Decision<Kind> | string {
  const input = readInput(kind, args);
  return typeof input === 'string' ? input : readWhoAndWhy(kind, input);
}

/**
 * `release` and `cancel` count without any input; `reject` and `refund` want a reason.
 * @param newId names the decision when the operator gave it no name
 * @returns a sentence about what is wrong with the input when it does not count
 */
export function readPaymentDecision(
  kind: PaymentDecisionKind,
  args: readonly unknown[],
  newId: () => string,
): PaymentDecision | string {
  const input = readInput(kind, args);
  if (typeof input === 'string') return input;
  const decision = readWhoAndWhy(kind, input);
  if (typeof decision === 'string') return decision;
  const { id, amount } = input;
  if (!isText(id, ID_LENGTH_MAX)) return wrong(kind, '"id" has to be a short text');
  if ((kind === 'reject' || kind === 'refund') && decision.reason === null) {
    return wrong(kind, '"reason" is missing');
  }
  if (kind !== 'refund' && amount !== undefined && amount !== null) {
    return wrong(kind, '"amount" belongs to `refund`');
  }
  if (!isText(amount, NAME_LENGTH_MAX) || (typeof amount === 'string' && !AMOUNT.test(amount))) {
    return wrong(kind, '"amount" has to be a decimal as text, such as "12.50"');
  }
  return { ...decision, id: textOrNull(id) ?? newId(), amount: textOrNull(amount) };
}

/**
 * For a signal that says no more than that somebody wants something.
 * @returns a sentence about what is wrong with the input when it does not count, else null
 */
export function refuseInput(kind: string, args: readonly unknown[]): string | null {
  const input = readInput(kind, args);
  const read = typeof input === 'string' ? input : readWhoAndWhy(kind, input);
  return typeof read === 'string' ? read : null;
}

function readInput(kind: string, args: readonly unknown[]): Input | string {
  const [input] = args;
  if (args.length > 1) return `\`${kind}\` takes one input, not ${args.length}`;
  if (input === undefined || input === null) return {};
  return isJsonObject(input) ? input : wrong(kind, 'is not a JSON object');
}

function readWhoAndWhy<Kind extends string>(
  kind: Kind,
  { by, reason }: Input,
): Decision<Kind> | string {
  if (!isText(by, NAME_LENGTH_MAX)) return wrong(kind, '"by" has to be a name');
  if (!isText(reason, REASON_LENGTH_MAX)) return wrong(kind, '"reason" has to be a sentence');
  return { kind, by: textOrNull(by), reason: textOrNull(reason) };
}

/** Plain bytes arrive as an object too. */
function isJsonObject(input: unknown): input is Input {
  return typeof input === 'object' && !Array.isArray(input) && !ArrayBuffer.isView(input);
}

function wrong(kind: string, what: string): string {
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
