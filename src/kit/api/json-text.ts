/**
 * A strict JSON parser: it keeps every digit of a number, and refuses bodies that two parsers could
 * read differently (duplicate keys, bytes that are not UTF-8).
 */
import { LosslessNumber, parse } from 'lossless-json';
import { ApiError } from '../../domain/errors';
import { JSON_DEPTH_MAX, outlineJson } from '../../platform/lib/json-outline';

const REASON_LENGTH_MAX = 200;
/** The most values of a body; ten thousand payouts with every field and twenty keys of metadata have 370,000. */
const JSON_VALUES_MAX = 400_000;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The object in `bytes`; its numbers are LosslessNumber.
 * @throws ApiError invalid_json, payload_too_large
 */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) throw invalid('The body is empty.');
  const text = decode(bytes);
  const { depth, members, values } = outlineJson(text);
  if (depth > JSON_DEPTH_MAX)
    throw invalid(`The body must not be nested deeper than ${JSON_DEPTH_MAX} levels.`);
  // The parser makes an object of each number, so values are counted before it.
  if (values > JSON_VALUES_MAX) throw tooManyValues();
  const value = parseText(text);
  if (!isObject(value)) throw invalid('The body must be a JSON object.');
  // The parser accepts a duplicate member with an equal value, so members are counted.
  if (countMembers(value) !== members) throw invalid('The body must not contain duplicate keys.');
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    // The decoder throws no other error.
    throw invalid('The body is not valid UTF-8.');
  }
}

function parseText(text: string): unknown {
  try {
    return parse(text, undefined, { parseNumber: (digits) => new LosslessNumber(digits) });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reason = error.message.slice(0, REASON_LENGTH_MAX);
    throw invalid(`The body is not valid JSON: ${reason}.`);
  }
}

function countMembers(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countMembers(item), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + countMembers(member), 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof LosslessNumber)
  );
}

function tooManyValues(): ApiError {
  const message = `The body has more than ${JSON_VALUES_MAX.toLocaleString('en')} values. Send fewer rows.`;
  return new ApiError({ code: 'payload_too_large', message });
}

function invalid(reason: string): ApiError {
  return new ApiError({
    code: 'invalid_json',
    message: `${reason} Send a JSON object encoded as UTF-8.`,
  });
}
