/**
 * Bodies with many rows (decisions/api#large-bodies). One that is longer than 64 KiB is read in a turn of
 * its account, and parsed and checked in a thread, so that no other request waits for it.
 */
import { Semaphore, withTimeout } from 'async-mutex';
import type { Middleware } from 'koa';
import { createAccountTurns, TURN_WAIT_MS_MAX } from '../../service/account-turns';
import { overloaded } from '../../service/admission';
import type { GatewayContext, GatewayState } from '../context';
import { parseJsonObject } from '../json-text';
import { type Readers, READERS } from './readers';
import { createBodyThread } from './thread';
import { bytesReader, readJsonBytes, refuseOtherMediaTypes } from '../validate';

const SMALL_BYTES_MAX = 64 * 1024;
/** The most bodies in memory at once, of all accounts. */
const AT_ONCE = { live: 8, test: 4 };

type Request<Name extends keyof Readers> = ReturnType<Readers[Name]>;

/**
 * Reads the body and stores the valid request on the state.
 * @param mebibytes the maximum of the body
 */
export type ValidateLarge = <Name extends keyof Readers>(
  name: Name,
  mebibytes: number,
) => Middleware<GatewayState & { request: Request<Name> }>;

export function createLargeBodies(): ValidateLarge {
  const thread = createBodyThread();
  const ofAccount = createAccountTurns({ live: 1, test: 1 });
  const place = (places: number) =>
    withTimeout(new Semaphore(places), TURN_WAIT_MS_MAX, overloaded());
  const places = { live: place(AT_ONCE.live), test: place(AT_ONCE.test) };
  return (name, mebibytes) => {
    const readBytes = bytesReader(['application/json'], mebibytes);
    return async (ctx, next) => {
      refuseOtherMediaTypes(ctx);
      if (isSmall(ctx)) {
        ctx.state.request = READERS[name](parseJsonObject(await readJsonBytes(ctx))) as never;
        await next();
        return;
      }
      const { caller } = ctx.state;
      await ofAccount.run(caller, async () => {
        ctx.state.request = await places[caller.mode].runExclusive(async () =>
          thread.read(name, await readBytes(ctx), caller.mode),
        );
        await next();
      });
    };
  };
}

/** A body without Content-Length may have any length. */
function isSmall(ctx: GatewayContext): boolean {
  const length = ctx.request.length as number | undefined;
  return length !== undefined && length <= SMALL_BYTES_MAX;
}
