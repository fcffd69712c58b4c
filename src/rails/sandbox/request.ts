/** Reads a request to the sandbox without trusting its shape. */
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { BOOK_MODES, PROVIDER_NAMES } from './config';
import type { ReferenceKey } from './records';

type JsonObject = Readonly<Record<string, unknown>>;

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

const TEXT_LENGTH_MAX = 128;

/** Null when the member is absent, empty, not a string, or too long. */
export function readText(from: JsonObject, member: string): string | null {
  const value = Object.hasOwn(from, member) ? from[member] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX
    ? value
    : null;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
