/** Exchange Pay's form of a list: `{updateTimeFrom, cursor}`, both optional; its pages are fixed. */
import type { Context } from 'koa';
import type { ChangesQuery } from '../changes';
import { normalizeTime } from '../checkouts/order';
import { readBody, readText } from '../request-body';

const PAGE = 50;

export function readChangesQuery(ctx: Context): ChangesQuery {
  const body = readBody(ctx);
  const { updateTimeFrom } = body;
  const from = typeof updateTimeFrom === 'number' ? normalizeTime(updateTimeFrom) : null;
  return { from, cursor: readText(body, 'cursor'), limit: PAGE };
}
