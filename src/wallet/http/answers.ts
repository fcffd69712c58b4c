/** What the routes of the wallet's API share: errors, list queries, and members of a request. */
import type { Context } from 'koa';
import type { WalletMode } from '../networks';

export interface WalletState {
  mode: WalletMode;
}

/** An answer other than success; the server writes it as `{error: {code, message}}`. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function malformed(field: string, rule: string): HttpRefusal {
  return new HttpRefusal(400, 'malformed_request', `${field} ${rule}.`);
}

export function readMode(ctx: Context): WalletMode {
  return (ctx.state as WalletState).mode;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function readBody(ctx: Context): JsonObject {
  const body: unknown = ctx.request.body;
  if (!isJsonObject(body)) throw malformed('The body', 'must be a JSON object');
  return body;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readMember(from: JsonObject, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

export function readText(from: JsonObject, name: string, longest = 128): string {
  const value = readMember(from, name);
  if (typeof value !== 'string' || value === '' || value.length > longest) {
    throw malformed(name, `must be a text of 1 to ${String(longest)} characters`);
  }
  return value;
}

const REFERENCE = /^[A-Za-z0-9_-]{1,64}$/;

export function readReference(from: JsonObject, name: string): string {
  const value = readText(from, name, 64);
  if (REFERENCE.test(value)) return value;
  throw malformed(name, 'must consist of 1 to 64 letters, digits, hyphens and underscores');
}

export function readQuery(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : undefined;
}

export interface ChangesQuery {
  from: Date | null;
  /** The last entry of the page before; null for the first page. */
  after: { updatedAt: Date; id: string } | null;
  limit: number;
}

const DEFAULT_PAGE = 50;
const PAGE_SIZE_MAX = 200;

/** `?updated_from=&cursor=&limit=`, all optional. */
export function readChangesQuery(ctx: Context): ChangesQuery {
  const from = readQuery(ctx, 'updated_from');
  const cursor = readQuery(ctx, 'cursor');
  const limit = Number(readQuery(ctx, 'limit') ?? DEFAULT_PAGE);
  if (from !== undefined && Number.isNaN(Date.parse(from))) {
    throw malformed('updated_from', 'must be a time in ISO 8601');
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw malformed('limit', 'must be a whole number of at least 1');
  }
  return {
    from: from === undefined ? null : new Date(from),
    after: cursor === undefined ? null : readCursor(cursor),
    limit: Math.min(limit, PAGE_SIZE_MAX),
  };
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([A-Za-z0-9_]{1,64})$/;

function readCursor(cursor: string): { updatedAt: Date; id: string } {
  const [, time = '', id = ''] = CURSOR.exec(cursor) ?? [];
  const updatedAt = new Date(time);
  if (id === '' || Number.isNaN(updatedAt.getTime())) {
    throw malformed('cursor', 'must be the next_cursor of a page');
  }
  return { updatedAt, id };
}

/** @param found one entry more than the page holds shows that there is another page */
export function pageOf<T extends { updatedAt: Date; id: string }>(
  found: readonly T[],
  limit: number,
): { entries: T[]; nextCursor: string | null } {
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const isLast = found.length <= limit || last === undefined;
  return {
    entries,
    nextCursor: isLast ? null : `${last.updatedAt.toISOString()}_${last.id}`,
  };
}
