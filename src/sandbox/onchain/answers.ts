/** The on-chain provider's form of an error. */
import type { Context } from 'koa';

export function answerError(ctx: Context, status: number, code: string, message: string): void {
  ctx.status = status;
  ctx.body = { error: { code, message } };
}
