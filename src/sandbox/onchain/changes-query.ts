/** The on-chain provider's form of a list: `?updated_from=&cursor=&limit=`, all of them optional. */
import type { Context } from 'koa';
import type { ChangesQuery } from '../changes';
import { normalizeTime } from '../checkouts/order';
import { answerError } from './answers';

const DEFAULT_PAGE = 50;
const PAGE_SIZE_MAX = 200;

/** Null when a parameter is malformed. */
export function readChangesQuery(ctx: Context): ChangesQuery | null {
  const asked = readQuery(ctx, 'updated_from');
  const from = asked === undefined ? null : normalizeTime(asked);
  const limit = Number(readQuery(ctx, 'limit') ?? DEFAULT_PAGE);
  if ((asked !== undefined && from === null) || !Number.isSafeInteger(limit) || limit < 1) {
    return null;
  }
  const cursor = readQuery(ctx, 'cursor') ?? null;
  return { from, cursor, limit: Math.min(limit, PAGE_SIZE_MAX) };
}

export function answerBadQuery(ctx: Context): void {
  answerError(ctx, 400, 'malformed_request', 'The cursor, the limit or the time is not valid.');
}

export function readQuery(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : undefined;
}
