/** Reads a request to the sandbox without trusting its shape. */
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { BOOK_MODES, PROVIDER_NAMES } from './config';
import type { ReferenceKey } from './records';

export type JsonObject = Readonly<Record<string, unknown>>;

/** What both providers accept as a client reference. */
export const REFERENCE = /^[A-Za-z0-9_-]{1,64}$/;

export function parseBody(): Middleware {
  return bodyParser({
    enableTypes: ['json'],
    onerror: (_error, ctx) => {
      ctx.throw(400, 'The body is not valid JSON.');
    },
  });
}

export function readBody(ctx: Context): JsonObject {
  const body: unknown = ctx.request.body;
  return isJsonObject(body) ? body : {};
}

/** Null when the member is absent, empty, not a string, or longer than `longest`. */
export function readText(from: JsonObject, member: string, longest = 128): string | null {
  const value = Object.hasOwn(from, member) ? from[member] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : null;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null when it is absent or null; undefined when it is not text or longer than `longest`. */
export function readOptionalText(
  from: JsonObject,
  member: string,
  longest: number,
): string | null | undefined {
  if (!Object.hasOwn(from, member) || from[member] === null) return null;
  return readText(from, member, longest) ?? undefined;
}

const URL_LENGTH_MAX = 2_048;

/** As readOptionalText, for a URL to which a browser may be sent. */
export function readOptionalUrl(from: JsonObject, member: string): string | null | undefined {
  const text = readOptionalText(from, member, URL_LENGTH_MAX);
  if (text === null || text === undefined) return text;
  return /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined;
}

/** The time as the book writes it; null when it is not a time. */
export function normalizeTime(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** The members `provider` and `mode` of a control request. */
export function readBookName(ctx: Context): Pick<ReferenceKey, 'provider' | 'mode'> {
  const body = readBody(ctx);
  const provider = PROVIDER_NAMES.find((one) => one === body.provider);
  const mode = BOOK_MODES.find((one) => one === body.mode);
  if (provider === undefined) ctx.throw(400, `provider must be ${PROVIDER_NAMES.join(' or ')}.`);
  if (mode === undefined) ctx.throw(400, `mode must be ${BOOK_MODES.join(' or ')}.`);
  return { provider, mode };
}
