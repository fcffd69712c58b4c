/** Reads the input of operators' signals. Never throws, because it is typed by hand. */
import type { PaymentDecisionKind } from '../src/domain/payment';
import type { Decision, PaymentDecision, PayoutBatchDecision } from './messages';
import { UNREADABLE } from './payload-converter';

export const NAME_LENGTH_MAX = 100;
const REASON_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 100;
const AMOUNT = /^[0-9]{1,18}(\.[0-9]{1,8})?$/;

type Input = Record<string, unknown>;

/**
 * No input, an empty object and null are valid: the operator is unnamed.
 * @returns a sentence about the error if the input is invalid
 */
export function readDecision<Kind extends string>(
  kind: Kind,
  args: readonly unknown[],
): Decision<Kind> | string {
  const input = readInput(kind, args);
  return typeof input === 'string' ? input : readWhoAndWhy(kind, input);
}

/**
 * `release` and `cancel` are valid without input; `reject` and `refund` require a reason.
 * @param newId creates the id of a decision that the operator has not named
 * @returns a sentence about the error if the input is invalid
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
  const { id, amount, sentAt } = input;
  if (!isText(id, ID_LENGTH_MAX)) {
    return ignored(kind, `"id" must be a text of at most ${ID_LENGTH_MAX} characters`);
  }
  if ((kind === 'reject' || kind === 'refund') && decision.reason === null) {
    return ignored(kind, '"reason" is required');
  }
  if (kind !== 'refund' && amount !== undefined && amount !== null) {
    return ignored(kind, '"amount" is only valid for `refund`');
  }
  if (!isText(amount, NAME_LENGTH_MAX) || (typeof amount === 'string' && !AMOUNT.test(amount))) {
    return ignored(kind, '"amount" must be a decimal string, such as "12.50"');
  }
  if (!isText(sentAt, NAME_LENGTH_MAX) || Number.isNaN(Date.parse(sentAt ?? '1970-01-01'))) {
    return ignored(kind, '"sentAt" must be a time, such as "2027-01-31T12:00:00Z"');
  }
  return {
    ...decision,
    id: textOrNull(id) ?? newId(),
    amount: textOrNull(amount),
    ...(typeof sentAt === 'string' ? { sentAt } : {}),
  };
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * An approval names the manifest, so that nobody approves other rows than those that they saw.
 * @returns a sentence about the error if the input is invalid
 */
export function readBatchDecision(
  kind: PayoutBatchDecision['kind'],
  args: readonly unknown[],
): PayoutBatchDecision | string {
  const input = readInput(kind, args);
  if (typeof input === 'string') return input;
  const decision = readWhoAndWhy(kind, input);
  if (typeof decision === 'string') return decision;
  const { manifest } = input;
  if (kind !== 'approve') return { ...decision, manifestSha256: null };
  if (typeof manifest === 'string' && SHA256.test(manifest)) {
    return { ...decision, manifestSha256: manifest };
  }
  return ignored(kind, '"manifest" must be the SHA-256 of the manifest that you approve');
}

function readInput(kind: string, args: readonly unknown[]): Input | string {
  const [input] = args;
  if (args.length > 1) return ignored(kind, `expected one input, received ${args.length}`);
  if (input === UNREADABLE) return ignored(kind, 'the input cannot be decoded');
  if (input === undefined || input === null) return {};
  return isJsonObject(input) ? input : ignored(kind, 'the input must be a JSON object');
}

function readWhoAndWhy<Kind extends string>(
  kind: Kind,
  { by, reason }: Input,
): Decision<Kind> | string {
  if (!isText(by, NAME_LENGTH_MAX)) {
    return ignored(kind, `"by" must be a name of at most ${NAME_LENGTH_MAX} characters`);
  }
  if (!isText(reason, REASON_LENGTH_MAX)) {
    return ignored(kind, `"reason" must be a text of at most ${REASON_LENGTH_MAX} characters`);
  }
  return { kind, by: textOrNull(by), reason: textOrNull(reason) };
}

/** Whether the input is a JSON object. Raw bytes are objects too, and are none. */
function isJsonObject(input: unknown): input is Input {
  return typeof input === 'object' && !Array.isArray(input) && !ArrayBuffer.isView(input);
}

function ignored(kind: string, why: string): string {
  return `\`${kind}\` was ignored: ${why}.`;
}

function isText(value: unknown, maxLength: number): value is string | null | undefined {
  return value === undefined || value === null || isStorable(value, maxLength);
}

/** Whether a value is the name of a caller or an operator, where it is required. */
export function isName(value: unknown): value is string {
  return isStorable(value, NAME_LENGTH_MAX) && value.trim() !== '' && value !== UNREADABLE;
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function isStorable(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && !/[\0\p{Cs}]/u.test(value);
}

function textOrNull(value: string | null | undefined): string | null {
  const text = value?.trim() ?? '';
  return text === '' ? null : text;
}
