/** Reads members of a parsed JSON body without trusting its shape. */
import type { Context } from 'koa';

export type JsonObject = Readonly<Record<string, unknown>>;

export function readBody(ctx: Context): JsonObject {
  const body: unknown = ctx.request.body;
  return isJsonObject(body) ? body : {};
}

export function readObject(from: JsonObject, member: string): JsonObject {
  const value = Object.hasOwn(from, member) ? from[member] : undefined;
  return isJsonObject(value) ? value : {};
}

/** Null when the member is absent, empty, no string, or longer than any honest value. */
export function readText(from: JsonObject, member: string, longest = 128): string | null {
  const value = Object.hasOwn(from, member) ? from[member] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : null;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null when it is absent or null; undefined when it is there and longer than `longest` or no text. */
export function readOptionalText(
  from: JsonObject,
  member: string,
  longest: number,
): string | null | undefined {
  if (!Object.hasOwn(from, member) || from[member] === null) return null;
  return readText(from, member, longest) ?? undefined;
}

const URL_LENGTH_MAX = 2_048;

/** As readOptionalText, for an address to which a browser may be sent. */
export function readOptionalUrl(from: JsonObject, member: string): string | null | undefined {
  const text = readOptionalText(from, member, URL_LENGTH_MAX);
  if (text === null || text === undefined) return text;
  return /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined;
}
